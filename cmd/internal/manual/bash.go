package manual

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// describeBash has `pages completion bash` print a script that stands alone. Cobra's calls a function of the
// package bash-completion, which a server or a container seldom has.
func describeBash(shell *cobra.Command) {
	shell.Long = `Print the completion script for bash.

To load completions in the current shell:

	source <(pages completion bash)

To load completions in every new shell, once, on Linux with the package bash-completion:

	pages completion bash > /etc/bash_completion.d/pages

on macOS with Homebrew's:

	pages completion bash > $(brew --prefix)/etc/bash_completion.d/pages

and without that package:

	pages completion bash > ~/.pages-completion.bash
	echo 'source ~/.pages-completion.bash' >> ~/.bashrc`
	shell.RunE = func(cmd *cobra.Command, _ []string) error {
		plain, err := cmd.Flags().GetBool("no-descriptions")
		if err != nil {
			return err
		}
		var script bytes.Buffer
		if err := cmd.Root().GenBashCompletionV2(&script, !plain); err != nil {
			return err
		}
		alone := strings.NewReplacer(
			bashWords, bashWordsAlone, " _filedir", " __pages_filedir", "\"_filedir", "\"__pages_filedir",
		).Replace(script.String())
		_, err = io.WriteString(cmd.OutOrStdout(), bashFiles+alone)
		return err
	}
}

// bashWords is cobra's call of that package, where it is there in part.
const bashWords = `    _get_comp_words_by_ref "$@" cur prev words cword
`

// bashWordsAlone does without: bash parts words at "=" and ":" too, which belong to ours.
const bashWordsAlone = `    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local line=${COMP_LINE:0:COMP_POINT} i word blank
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        blank=${line%%[![:space:]]*}
        line=${line#"$blank"}
        word=${COMP_WORDS[i]}
        if ((i == COMP_CWORD)); then word=$line; fi
        line=${line#"$word"}
        if [[ $i -gt 0 && -z $blank && ($word == [=:]* || ${words[cword]} == *[=:]) ]]; then
            words[cword]+=$word
        else
            cword=${#words[@]}
            words[cword]=$word
        fi
    done
    cur=${words[cword]}
    prev=
    if ((cword > 0)); then prev=${words[cword-1]}; fi
`

// bashFiles completes names of files as _filedir of that package does: folders for -d, else those with an ending
// of a list as "sql|csv" too.
const bashFiles = `__pages_filedir()
{
    if declare -F _filedir >/dev/null 2>&1; then
        _filedir "$@"
        return
    fi
    local name
    if [[ $(type -t compopt) = "builtin" ]]; then compopt -o filenames; fi
    while IFS= read -r name; do
        if [[ -d $name || $1 != -d && (-z $1 || "|$1" == *"|${name##*.}|"*) ]]; then COMPREPLY+=("$name"); fi
    done < <(compgen -f -- "$cur")
}

`
