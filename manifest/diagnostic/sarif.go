package diagnostic

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// The types are the part of SARIF 2.1.0 (OASIS) that a report needs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		ColumnKind  string            `json:"columnKind"`
		Invocations []sarifInvocation `json:"invocations,omitempty"`
		Results     []sarifResult     `json:"results"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
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
		FullDescription  sarifMessage `json:"fullDescription"`
		Help             sarifMessage `json:"help"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    *int              `json:"ruleIndex,omitempty"`
		Level        Severity          `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
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

// WriteSARIF writes the reports as one SARIF 2.1.0 log with one run, for code-scanning services. Files are relative URIs
// when the reports name them so; rules carry the descriptions that GitHub asks for. A notification counts the omitted
// diagnostics of a report.
func WriteSARIF(w io.Writer, reports ...Report) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver.Name = "pages"
	index := map[string]int{}
	for i, rule := range rules {
		index[rule.Code] = i
		summary := sarifMessage{rule.Summary}
		help := sarifMessage{rule.Summary + "; the message of each result ends with its fix"}
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{rule.Code, summary, summary, help})
	}
	var omitted []sarifNotification
	for _, r := range reports {
		for _, d := range r.Diagnostics {
			run.Results = append(run.Results, newSARIFResult(r.file(d), d, index))
		}
		if r.Omitted > 0 {
			omitted = append(omitted, sarifNotification{
				Level: "warning",
				Message: sarifMessage{fmt.Sprintf("this log leaves out %s more of %s", Plural(r.Omitted, "problem"),
					sourcetext.Quote(r.File))},
				Locations: []sarifLocation{{Physical: sarifPhysical{Artifact: sarifArtifact{fileURI(r.File)}}}},
			})
		}
	}
	if len(omitted) > 0 {
		run.Invocations = []sarifInvocation{{Successful: true, Notifications: omitted}}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []sarifRun{run},
	})
}

func newSARIFResult(file string, d Diagnostic, index map[string]int) sarifResult {
	text := d.Message
	if d.Fix != "" {
		text += "\nfix: " + d.Fix
	}
	uri := fileURI(file)
	region := sarifRegion{max(d.Line, 1), max(d.Column, 1), max(d.EndLine, d.Line, 1), max(d.EndColumn, 1)}
	location := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{uri}, Region: &region}}
	if d.Path != "" {
		location.Logical = []sarifLogical{{d.Path}}
	}
	// Services recognize a result in the next run by its fingerprint. A line's number changes with every edit above it.
	sum := sha256.Sum256([]byte(strings.Join([]string{d.Code, uri, d.Path}, "\x00")))
	result := sarifResult{
		RuleID: d.Code, Level: d.Severity, Message: sarifMessage{text}, Locations: []sarifLocation{location},
		Fingerprints: map[string]string{"pagesDiagnostic/v1": hex.EncodeToString(sum[:16])},
	}
	if i, known := index[d.Code]; known {
		result.RuleIndex = &i
	}
	return result
}

// fileURI names a file by a relative reference without "./", which services match with the files of a repository, or by a
// file: URI when the name is absolute.
func fileURI(name string) string {
	slashed := filepath.ToSlash(name)
	if filepath.IsAbs(name) || path.IsAbs(slashed) {
		return (&url.URL{Scheme: "file", Path: "/" + strings.TrimLeft(slashed, "/")}).String()
	}
	uri := (&url.URL{Path: path.Clean(slashed)}).String()
	if rest, colon := strings.CutPrefix(uri, "./"); colon { // a text before a colon would be a scheme
		uri = strings.ReplaceAll(rest, ":", "%3A")
	}
	return uri
}
