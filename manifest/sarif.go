package manifest

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
)

// The part of SARIF 2.1.0 (OASIS) that a report needs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string       `json:"id"`
		ShortDescription sarifMessage `json:"shortDescription"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex *int            `json:"ruleIndex,omitempty"`
		Level     Severity        `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
	}
)

// WriteSARIF writes the reports as one SARIF 2.1.0 log with one run, for code-scanning services.
func WriteSARIF(w io.Writer, reports ...Report) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver.Name = "pages"
	index := map[string]int{}
	for i, rule := range rules {
		index[rule.Code] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{rule.Code, sarifMessage{rule.Summary}})
	}
	for _, r := range reports {
		for _, d := range r.Diagnostics {
			run.Results = append(run.Results, newSARIFResult(r.file(d), d, index))
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{run},
	})
}

func newSARIFResult(file string, d Diagnostic, index map[string]int) sarifResult {
	text := d.Message
	if d.Fix != "" {
		text += "\nfix: " + d.Fix
	}
	location := sarifLocation{Physical: sarifPhysical{
		Artifact: sarifArtifact{(&url.URL{Path: filepath.ToSlash(file)}).String()},
		Region:   sarifRegion{max(d.Line, 1), max(d.Column, 1), max(d.EndLine, 1), max(d.EndColumn, 1)},
	}}
	if d.Path != "" {
		location.Logical = []sarifLogical{{d.Path}}
	}
	result := sarifResult{RuleID: d.Code, Level: d.Severity, Message: sarifMessage{text}, Locations: []sarifLocation{location}}
	if i, known := index[d.Code]; known {
		result.RuleIndex = &i
	}
	return result
}
