//! `completions`: what a shell needs to complete our command line.

use clap_complete::Shell;

use super::arguments::described;
use super::context::Context;
use crate::exit_code::ExitCode;
use crate::operator_error::Outcome;

/// The arguments of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
In bash, zsh and fish the script asks the program what fits, so that ids of flows are completed, \
too, and the script stays right when the program is updated.

Examples:
  a-society completions bash > ~/.local/share/bash-completion/completions/a-society
  a-society completions fish > ~/.config/fish/completions/a-society.fish
  a-society completions zsh > \"${fpath[1]}/_a-society\"")]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Bash splits words at `=` and `:`; the program knows the first, and the part before the second is
/// removed again. Without candidates nothing is offered, and paths only where one belongs.
const BASH: &str = r#"_a_society() {
    local value about
    COMPREPLY=()
    while IFS=$'\t' read -r value about; do
        case $value in
            :files) compopt -o default ;;
            :folders) compopt -o dirnames ;;
            '') ;;
            *) COMPREPLY+=("$value") ;;
        esac
    done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace
    fi
}
complete -o nosort -F _a_society a-society 2>/dev/null || complete -F _a_society a-society
"#;

const ZSH: &str = r#"#compdef a-society
_a-society() {
    local line value
    local -a offers
    local files=0 folders=0
    for line in "${(@f)$("${words[1]}" __complete -- "${(@)words[1,CURRENT]}" 2>/dev/null)}"; do
        value="${line%%$'\t'*}"
        case $value in
            :files) files=1 ;;
            :folders) folders=1 ;;
            '') ;;
            *)
                line="${line#*$'\t'}"
                offers+=("${value//:/\\:}${line:+:$line}")
                ;;
        esac
    done
    (( ${#offers} )) && _describe -V 'a-society' offers
    (( files )) && _files
    (( folders )) && _files -/
    return 0
}
if [ "$funcstack[1]" = "_a-society" ]; then
    _a-society "$@"
else
    compdef _a-society a-society
fi
"#;

const FISH: &str = r#"function __a_society_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    for line in ($words[1] __complete -- $words "$typed" 2>/dev/null)
        set -l parts (string split -m 1 \t -- $line)
        switch $parts[1]
            case ':files'
                __fish_complete_path "$typed"
            case ':folders'
                __fish_complete_directories "$typed"
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c a-society -f -k -a '(__a_society_complete)'
"#;

/// Prints them.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let asking = match arguments.shell {
        Shell::Bash => Some(BASH),
        Shell::Zsh => Some(ZSH),
        Shell::Fish => Some(FISH),
        Shell::Elvish | Shell::PowerShell | _ => None,
    };
    if let Some(script) = asking {
        context.out.bytes(script.as_bytes())?;
        return Ok(ExitCode::Ok);
    }
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut described(), "a-society", &mut script);
    context.out.bytes(&script)?;
    Ok(ExitCode::Ok)
}
