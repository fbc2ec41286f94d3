__pages_filedir()
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

