import { expect, test } from "bun:test";
import { svc } from "../helpers/cli-run.ts";

/** A command line, its exit code, and what stderr (or, for 0, stdout) says. */
const LINES: [line: string[], code: 0 | 1 | 2, says: string | RegExp][] = [
  // help and version
  [[], 0, "USAGE"],
  [["--help"], 0, "cr open"],
  [["-h"], 0, "LEARN MORE"],
  [["help"], 0, "svc help environment"],
  [["cr", "--help"], 0, "reopen"],
  [["cr", "ls", "-h"], 0, "--status"],
  [["cr", "open", "--title", "x", "--help"], 0, "--from"],
  [["--help", "cr", "show"], 0, "svc cr show"],
  [["help", "cr", "open"], 0, "--into"],
  [["help", "cr"], 0, "merge"],
  [["help", "self-host", "env", "ls"], 0, "svc self-host env ls"],
  [["self-host", "env", "set", "--help"], 0, "NAME=VALUE"],
  [["help", "exit-codes"], 0, "130"],
  [["help", "sandbox"], 0, "SVC_SESSION_ID"],
  [["cr", "info", "--help"], 0, "svc cr show"],
  [["cr", "new", "--help"], 0, "svc cr open"],
  [["projects", "delete", "--help"], 0, "svc projects rm"],
  [["version"], 0, /^\d+\.\d+\.\d+\n$/],
  [["--version"], 0, /^\d+\.\d+\.\d+\n$/],
  [["-V"], 0, /^\d+\.\d+\.\d+\n$/],
  [["hosts", "list"], 0, "local-dev"],
  [["hosts", "ls", "--no-color", "--quiet"], 0, "local-dev"],
  [["--color=never", "hosts", "current"], 0, "local-dev\n"],
  [["--color", "hosts", "current"], 0, "local-dev\n"],
  [["hosts", "current", "--host", "cloud"], 0, "cloud\n"],
  [["hosts", "--host=cloud", "current"], 0, "cloud\n"],
  // a group without its command
  [["cr"], 2, "COMMANDS"],
  [["projects", "-q"], 2, "COMMANDS"],
  // unknown commands
  [["projcts"], 2, "Did you mean `svc projects`?"],
  [["lgoin"], 2, "Did you mean `svc login`?"],
  [["pr"], 2, "COMMANDS"],
  [["pr", "view", "--help"], 0, "svc cr show"],
  [["logs", "web"], 2, "svc apps logs <slug>"],
  [["auth"], 2, "Did you mean `svc login`?"],
  [["shop"], 2, "Unknown command: svc shop"],
  [["budgets", "ls"], 2, "`svc budgets` is not part of this version of svc"],
  [["my-new-project"], 2, "Unknown command"],
  [["__complet"], 2, "Unknown command"],
  [["cr", "shw", "3"], 2, "Did you mean `svc cr show`?"],
  [["cr", "frobnicate"], 2, "svc cr --help"],
  [["help", "environmnt"], 2, "Did you mean `svc help environment`?"],
  [["help", "cr", "mrege"], 2, "Did you mean `svc help cr merge`?"],
  [["-q", "--", "cr"], 2, "command is missing"],
  // flags
  [["cr", "ls", "--stauts", "open"], 2, "Did you mean `--status`?"],
  [["cr", "open", "--titel", "x"], 2, "Did you mean `--title`?"],
  [["cr", "ls", "--title", "x"], 2, "Unknown flag: --title"],
  [["cr", "ls", "-z"], 2, "Unknown flag: -z"],
  [["--wat"], 2, "Unknown flag: --wat"],
  [["cr", "ls", "--status"], 2, "--status needs a value"],
  [["cr", "ls", "--status", "--json"], 2, "--status needs a value"],
  [["cr", "open", "--title", "--quiet"], 2, "write --title=--quiet"],
  [["cr", "open", "--title="], 2, "--title needs a value"],
  [["cr", "ls", "--status", "opne"], 2, "Did you mean `open`?"],
  [["cr", "ls", "--status", "draft"], 2, "open, merged, closed, all"],
  [["cr", "ls", "--limit", "0"], 2, "whole number from 1"],
  [["cr", "ls", "--limit", "many"], 2, "whole number"],
  [["cr", "ls", "--timeout", "1e3"], 2, "whole number"],
  [["cr", "ls", "--quiet=yes"], 2, "--quiet does not take a value"],
  [["cr", "ls", "--color=blue"], 2, "always, auto, never"],
  [["cr", "ls", "--status", "open", "--status", "all"], 2, "--status is given twice"],
  [["cr", "open", "--head", "a", "--from", "b", "--title", "x"], 2, "--head and --from are the same flag"],
  [["cr", "open", "--body", "a", "--description", "b", "--title", "x"], 2, "the same flag"],
  [["cr", "edit", "3", "--body", "a", "--body-file", "b"], 2, "cannot be used together"],
  [["cr", "ls", "--json=numbr"], 2, "Did you mean `number`?"],
  [["cr", "ls", "--json=number,"], 2, "(empty)"],
  [["cr", "ls", "--json="], 2, "needs a value"],
  [["hosts", "ls", "--jq", ".["], 2, "--jq: syntax error"],
  [["completion", "bash", "--json"], 2, "Unknown flag: --json"],
  // arguments
  [["cr", "open"], 2, "needs --title <text>"],
  [["projects", "new"], 2, "A repository or a name is required"],
  [["hosts", "add", "team"], 2, "needs --url <url>"],
  [["cr", "show"], 1, "svc projects link"],
  [["projects", "link"], 2, "needs <id-or-slug>"],
  [["hosts", "use"], 2, "needs <name>"],
  [["cr", "show", "3", "4"], 2, "does not take `4`"],
  [["cr", "ls", "everything"], 2, "does not take `everything`"],
  [["cr", "show", ""], 2, "needs <cr>"],
  [["cr", "resolve"], 2, "needs <comment>"],
  [["cr", "show", "abc"], 2, "Not a change request: abc"],
  [["cr", "show", "0"], 2, "Not a change request"],
  [["cr", "show", "--", "-3"], 2, "Not a change request: -3"],
  [["cr", "show", "../../accounts/me"], 2, "Not a change request"],
  [["cr", "edit", "3"], 2, "Nothing to change"],
  [["cr", "ls", "--project", "a/../b"], 2, "--project is not a valid project id or slug"],
  [["cr", "ls", "--project", ".."], 2, "--project is not a valid project id or slug"],
  [["completion", "tcsh"], 2, "bash, zsh, fish, powershell"],
  [["completion", "fihs"], 2, "Did you mean `fish`?"],
  [["login", "--token", "ghp_abc"], 2, "begins with svc_pat_"],
  [["login", "--token", "svc_sb_abc"], 2, "service key"],
  [["login", "--api", "ftp://x", "--token", "svc_pat_x"], 2, "--api is not a valid API address"],
  [["hosts", "add", "team", "--url", "svc.example.com"], 2, "must begin with https://"],
  [["hosts", "add", "team", "--url", "https://me:pw@svc.example.com"], 2, "no user name"],
  [["hosts", "add", "__proto__", "--url", "https://svc.example.com"], 2, "Not a host name"],
  [["api"], 2, "needs <path>"],
  // a list that must not be empty
  [["secrets", "set"], 2, "needs <NAME=VALUE>"],
  [["secrets", "unset"], 2, "needs <NAME>"],
  [["self-host", "env", "set"], 2, "needs <NAME=VALUE>"],
  [["help"], 0, "USAGE"],
  // not `--host`, which is nearer by its letters
  [["self-host", "start", "--port", "80"], 2, "Did you mean `--listen`?"],
  [["login", "--url", "https://svc.example.com"], 2, "Did you mean `--api`?"],
  [["checks", "report", "test", "success", "--commit", "HEAD"], 2, "Did you mean `--sha`?"],
  [["-v"], 2, "`svc version` prints the version"],
  // one letter, two flags
  [["sessions", "logs", "-f", "12"], 2, "Not a session: 12"],
  [["sessions", "logs", "12", "-fn", "3"], 2, "Not a session: 12"],
  [["sessions", "logs", "-n", "0", "-f", "1a2b"], 2, "-n must be a whole number"],
  [["api", "-f", "novalue", "projects"], 2, "-f must be key=value"],
  [["-f", "novalue", "api", "projects"], 2, "-f must be key=value"],
  [["cr", "ls", "-f", "x"], 2, "Unknown flag: -f"],
  [["api", "projects", "-F", "novalue"], 2, "-F must be key=value"],
  [["api", "projects", "-X", "BREW"], 2, "-X must be one of"],
  [["api", "projects", "--paginate", "-f", "a=b"], 2, "--paginate works only with GET"],
  // valid arguments of requests that fail
  [["cr", "ls"], 1, "svc projects link"],
  [["hosts", "use", "nope"], 1, "Host not found: nope"],
  [["hosts", "use", "cluod"], 1, "Did you mean `cloud`?"],
  [["hosts", "rm", "cloud"], 1, "nothing to remove"],
  [["projects", "unlink"], 1, "not linked"],
  [["whoami"], 1, "or to another server with `svc login --api <url>`"],
  [["update", "--version", "newest"], 2, /--version must be a version such as \d+\.\d+\.\d+, not newest/],
];

for (const [line, code, says] of LINES) {
  test.concurrent(`svc ${line.join(" ")} exits ${code}`, async () => {
    const ran = await svc(line);
    const [speaks, silent] = code === 0 ? [ran.stdout, ran.stderr] : [ran.stderr, ran.stdout];
    if (typeof says === "string") expect(speaks).toContain(says);
    else expect(speaks).toMatch(says);
    expect({ code: ran.code, silent }).toEqual({ code, silent: "" });
  });
}

test("no error shows a stack or a path of the source", async () => {
  const ran = await svc(["cr", "open", "--title"]);
  expect(ran.stderr).not.toMatch(/\bat \w+ \(|\.ts:\d+/);
});
