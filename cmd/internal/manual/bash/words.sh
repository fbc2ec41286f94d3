    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
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
