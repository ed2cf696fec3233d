import { spec } from "../spec.ts";
import { ID } from "./session-id.ts";

const RECORDED =
  "The command runs as the agent's user, in the same sandbox and with the same variables. Who ran it is recorded: `svc sessions commands` lists it.";

const RECORDED_SSH =
  "The connection is recorded: `svc sessions commands` lists it. What is done over it is not.";

export const exec = spec({
  path: ["sessions", "exec"],
  summary: "Run a command in the sandbox of a session",
  about: [
    `Standard input goes to the command, and its output and its exit status come back. ${RECORDED}`,
    "If the connection is lost, svc reconnects, and the command keeps running. Ctrl-C interrupts the command.",
  ],
  args: [
    { ...ID, required: true },
    { name: "command", summary: "The program and its arguments, after --", required: true, many: true },
  ],
  flags: {
    tty: { kind: "boolean", short: "t", summary: "Give the command a terminal" },
    "no-stdin": { kind: "boolean", summary: "Do not read standard input" },
  },
  examples: [
    ["svc sessions exec 1a2b -- npm test", "Run the tests"],
    ["svc sessions exec 1a2b -- sh -c 'git diff | head'", "With a shell's syntax"],
    ["svc sessions exec 1a2b -t -- htop", "A program that draws on the terminal"],
    ["svc sessions exec 1a2b -- psql < dump.sql", "With standard input"],
  ],
});

export const shell = spec({
  path: ["sessions", "shell"],
  guesses: ["terminal", "bash", "console"],
  summary: "Open a shell in the sandbox of a session",
  about: [
    `It starts in the repository. ${RECORDED}`,
    "If the connection is lost, svc reconnects, and the shell keeps running. `~.` at the start of a line ends it.",
  ],
  args: [ID],
  flags: {},
  examples: [
    ["svc sessions shell 1a2b3c4d", "A shell in the workspace"],
    ["svc sessions shell", "Choose a session"],
  ],
});

export const commands = spec({
  path: ["sessions", "commands"],
  guesses: ["execs"],
  summary: "List the commands that people have run in the sandbox of a session",
  about: ["The newest first, up to 200. What the agent runs is in the conversation."],
  args: [ID],
  flags: {},
  fields: ["exec_id", "user_id", "user_name", "command", "tty", "created_at"],
  examples: [
    ["svc sessions commands 1a2b3c4d", "Who ran what, and when"],
    ["svc sessions commands 1a2b --jq '.[].command | join(\" \")'", "Only the commands"],
  ],
});

export const cp = spec({
  path: ["sessions", "cp"],
  guesses: ["copy"],
  summary: "Copy a file or a folder to or from the sandbox of a session",
  about: [
    "One of the two is <id>:<path>. A path in the sandbox is relative to the workspace. If the destination is a folder, the copy goes into it; otherwise it gets its name. An existing file is replaced, an existing folder is not.",
    "From a sandbox, links that lead out of the copied folder are left out, and so is everything that is not a file, a folder or a link.",
  ],
  args: [
    { name: "from", summary: "What to copy", required: true, completes: "file" },
    { name: "to", summary: "Where to", required: true, completes: "file" },
  ],
  flags: {},
  examples: [
    ["svc sessions cp 1a2b:dist ./dist", "A folder from the sandbox"],
    ["svc sessions cp 1a2b:/tmp/report.html .", "A file, into this folder"],
    ["svc sessions cp fixtures 1a2b:test/", "A folder into the sandbox"],
  ],
});

export const ssh = spec({
  path: ["sessions", "ssh"],
  summary: "Connect to the sandbox of a session with OpenSSH",
  about: [
    "ssh runs on this machine, and svc carries its connection: the sandbox needs no SSH server and no open port. For editors, scp and rsync, run `svc sessions ssh-config --write` once.",
    RECORDED_SSH,
  ],
  args: [ID, { name: "command", summary: "A command, or options of ssh, after --", many: true }],
  flags: {
    stdio: { kind: "boolean", summary: "Connect standard input and output, as a ProxyCommand of ssh" },
  },
  examples: [
    ["svc sessions ssh 1a2b3c4d", "A shell"],
    ["svc sessions ssh 1a2b -- npm test", "One command"],
    ["svc sessions ssh 1a2b -- -N -L 3000:localhost:3000", "Forward a port of this machine"],
  ],
});

export const sshConfig = spec({
  path: ["sessions", "ssh-config"],
  summary: "Print what ssh and editors need to connect to the project's sandboxes",
  about: [
    "A sandbox is then `<id>.<project>.svc` for ssh, scp, sftp, rsync, and for editors that connect by SSH. The id may be its first digits. Sessions that run now are listed by name, for editors that offer a choice.",
    "With --write, svc writes a file of its own, and one `Include` line at the beginning of ~/.ssh/config.",
  ],
  args: [],
  flags: {
    write: { kind: "boolean", short: "w", summary: "Write it, instead of printing it" },
  },
  examples: [
    ["svc sessions ssh-config --write", "Set ssh up"],
    ["svc sessions ssh-config", "See what would be written"],
  ],
});
