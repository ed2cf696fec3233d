import type { Handler } from "../spec.ts";
import type * as table from "../table/tools.ts";

/** Prints a shell's script. All of them call `svc __complete`, so that they do not get out of date. */
export const completion: Handler<typeof table.completion> = async ({ system }, { args }) => {
  await system.stdout.write(SCRIPTS[args.shell] ?? "");
};

// A candidate is `value<tab>description`. The words come after `--`; the last one is being typed.
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# bash completion for svc. In ~/.bashrc: eval "$(svc completion bash)"
_svc() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(command svc __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == ":files" ]]; then
    COMPREPLY=()
    compopt -o default 2>/dev/null
  elif [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *[=,] ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -F _svc svc
`,
  zsh: `#compdef svc
# zsh completion for svc. Put it on your fpath as _svc: svc completion zsh > ~/.zfunc/_svc
_svc() {
  local -a found
  local line value text
  while IFS= read -r line; do
    value="\${line%%$'\\t'*}"
    text="\${line#*$'\\t'}"
    if [[ "$value" == ":files" ]]; then
      _files
      return
    fi
    found+=("\${value//:/\\\\:}:$text")
  done < <(command svc __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe -V svc found
}
if [[ "\${funcstack[1]}" == "_svc" ]]; then
  _svc "$@"
else
  compdef _svc svc
fi
`,
  fish: `# fish completion for svc: svc completion fish > ~/.config/fish/completions/svc.fish
function __svc_complete
  set -l words (commandline -opc)
  set -e words[1]
  set -l current (commandline -ct)
  for line in (command svc __complete -- $words "$current" 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path "$current"
    else
      echo $line
    end
  end
end
complete -c svc -f -a '(__svc_complete)'
`,
  powershell: `# PowerShell completion for svc: svc completion powershell >> $PROFILE
Register-ArgumentCompleter -Native -CommandName svc -ScriptBlock {
  param($word, $ast, $position)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $position } | ForEach-Object { $_.ToString() })
  & svc __complete '--' @words "$word" 2>$null | ForEach-Object {
    $value, $text = $_ -split "\`t", 2
    if ($value -and $value -ne ':files') {
      if (-not $text) { $text = $value }
      [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $text)
    }
  }
}
`,
};
