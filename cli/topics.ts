/** `svc help <topic>`. */
export const TOPICS: Readonly<Record<string, string>> = {
  environment: `Variables that svc reads

SVC_CLI_TOKEN        The token to use instead of the stored one.
SVC_EXECUTOR_TOKEN   The same, when SVC_CLI_TOKEN is not set.
SVC_API_URL          The address of the API, instead of the active host's.
SVC_PROJECT_ID       The project, instead of the linked one.
SVC_SESSION_ID       The session; set in a sandbox. Default of \`cr open --session\`
                     and of \`sessions info\` and \`sessions logs\`.
SVC_BRANCH_NAME      The session's branch. Default of \`cr open --head\`; then SVC_HEAD_REF.
SVC_CONFIG_FILE      The configuration file.
SVC_SELF_HOST_DIR    The folder of \`self-host\`; ~/.svc/self-host by default.
SVC_DASHBOARD_URL    The dashboard's address, if it is not that of the API.
SVC_PAGER, PAGER     The pager of \`cr diff\`; \`less\` by default, \`cat\` disables it.
SVC_BROWSER, BROWSER The browser.
SVC_NO_UPDATE_CHECK  Disables the notice of a new version, which is shown once a day.
SVC_DEBUG            Prints the stack trace of an internal error.
NO_COLOR             Disables colour. FORCE_COLOR and CLICOLOR_FORCE always enable it.
CI                   Never prompt.
HTTP_PROXY, HTTPS_PROXY, NO_PROXY, NODE_EXTRA_CA_CERTS   As usual.

Configuration: ~/.config/svc/config.json (or under XDG_CONFIG_HOME), readable by
its owner alone. It holds hosts, the active one, and their tokens.

Host:    --host, else the link file's, else the active one (\`svc hosts use\`).
         SVC_API_URL has precedence over the last two.
Project: --project, else SVC_PROJECT_ID, else .svc/link.json in this directory or
         the nearest one above it, else the one whose repository a git remote
         names: on the current host, or on another that you are signed in to.
A token is sent only to the host it belongs to. If a link file's host_url is not
the configured address of that host, the command fails.
`,
  "exit-codes": `Exit codes

0    Success.
1    Failure: the server refused, the network failed, or a prompt was cancelled.
2    Invalid command line: an unknown command or flag, or a missing argument.
     Nothing was sent.
130  Ended by Ctrl-C.

The \`code\` of the JSON error has the exact reason: see \`svc help json\`.
`,
  json: `JSON

--json            Prints all fields: an array for lists, else an object.
--json a,b        Prints only these fields; also --json=a,b. \`--help\` of a command
                  lists them.
--jq <expression> Filters the JSON; strings are printed raw. Implies --json.

Fields have the names of the API. On a terminal the JSON is indented, elsewhere it is one
line. When a command fails, stdout stays empty and stderr holds one object:

  {"error": {"code": "not_found", "message": "...", "hint": "...", "request_id": "..."}}

Codes of the CLI: usage, cancelled, not_signed_in, no_project, config_invalid,
config_busy, link_invalid, link_mismatch, host_unknown, network, timeout,
unexpected_response, login_failed, project_exists, file, git, manifest_invalid,
not_fast_forward, agent_waiting, session_failed, session_stopped, session_deleted,
webhook_failed, channel_failed, jq,
install_record_invalid, update_unsupported, update_failed, internal. All others
come from the API.
`,
  extensions: `Aliases and extensions

An alias is a shorter name for a command line, in svc's configuration:

  svc alias set co 'cr checkout'              svc co 3
  svc alias set why 'cr comment $1 "Why $2?"' svc why 3 now

$1 to $9 are the words after the alias; those that it does not use follow at the
end. An alias does not stand for another alias, and no shell reads it.

An extension is a program svc-<name> on the PATH: \`svc foo a b\` runs
\`svc-foo a b\`, if foo is neither a command nor an alias. Folders of the PATH that
are not absolute, such as the current one, are skipped. It gets svc's environment
without tokens (SVC_CLI_TOKEN, SVC_EXECUTOR_TOKEN, SVC_TOKEN); to use the server, it
calls svc, for example \`svc api\`, which finds the token of \`svc login\`.

The name of a command is never an alias or an extension, and in a sandbox there are
none.
`,
  sandbox: `In a sandbox

An agent's session sets SVC_API_URL, SVC_CLI_TOKEN, SVC_PROJECT_ID, SVC_SESSION_ID
and SVC_BRANCH_NAME. Nothing else is needed: no login, no link, and no configuration
file is read or written. svc does not prompt there and opens no browser.

  svc whoami                          the project and session of the token
  git push origin HEAD                push the session's branch
  svc cr open --title "What it does"  open a change request for that branch
  svc cr show 3                       show whether it merges cleanly
  svc sessions info                   the session: its status, base branch and agent
  svc repo cat README.md --ref main   a file of another branch, without a fetch

When there are conflicts: \`git fetch origin\`, \`git merge origin/<base>\`, resolve,
commit, push, and check again with \`svc cr show\`.
`,
};
