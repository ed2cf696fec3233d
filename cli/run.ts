import { type Parsed, parse } from "./arguments.ts";
import { CliError, OutputClosed, ProgramExit } from "./failure.ts";
import { entryOf } from "./lookup.ts";
import { checkJq, makeOutput, type Output, painter, usesColour } from "./output.ts";
import { canAsk, inSandbox } from "./sandbox.ts";
import type { Command } from "./spec.ts";
import type { System } from "./system.ts";
import { TABLE } from "./table.ts";
import { lines, logText, oneLine, safeJson } from "./text.ts";

/** Runs one command line. Reports errors and returns the exit code. */
export async function run(system: System, argv: readonly string[]): Promise<number> {
  let line = argv;
  try {
    if (isOfUser(system, argv)) {
      const { expandAlias } = await import("./alias.ts");
      const expanded = await expandAlias(system, argv);
      if (expanded === null) {
        const { findExtension, runExtension } = await import("./extension.ts");
        const program = findExtension(system, argv[0] ?? "");
        if (program !== null) return await runExtension(system, program, argv.slice(1));
      }
      line = expanded ?? argv;
    }
    return await dispatch(system, line);
  } catch (error) {
    if (error instanceof OutputClosed) return 0;
    if (error instanceof ProgramExit) return error.status;
    // If stderr cannot be written either, the exit code is all that is left.
    await report(system, line, error).catch(() => {});
    return error instanceof CliError ? error.exit : 1;
  }
}

/** Whether the first word may be an alias or an extension. In a sandbox there are none: all settings are in the environment. */
function isOfUser({ env }: System, [word = "-"]: readonly string[]): boolean {
  return !word.startsWith("-") && !inSandbox(env) && entryOf(TABLE, word) === undefined;
}

async function dispatch(system: System, argv: readonly string[]): Promise<number> {
  const wantsJson = asksForJson(argv);
  const parsed = parse(TABLE, argv, () => canAsk(system, argv.includes("--no-input"), wantsJson));
  if (parsed.kind !== "run") return answerRoot(system, parsed);
  const { command, args, flags, globals, data } = parsed;
  const { makeContext } = await import("./context.ts");
  const options = { color: globals.color, noColor: globals["no-color"], quiet: globals.quiet };
  const out = makeOutput(system, data, options);
  if (data.jq !== undefined) await checkJq(data.jq);
  await command.run(makeContext({ system, globals, out }), args, flags);
  if (mayNotice(system, command, out)) {
    const { noticeUpdate } = await import("./install/notice.ts");
    await noticeUpdate(system).catch(() => {});
  }
  return 0;
}

/** Commands that other programs call, and those about the version itself. */
const WITHOUT_NOTICE = ["git-credential", "completion", "version", "update", "uninstall"];

/** Whether a notice of a newer version may follow a command: only for a person who reads its output. */
function mayNotice(system: System, { spec }: Command, out: Output): boolean {
  const { env, stderr } = system;
  if (spec.hidden || WITHOUT_NOTICE.includes(spec.path[0]) || out.data.json || out.quiet) return false;
  if (env["CI"] || env["SVC_NO_UPDATE_CHECK"] || inSandbox(env)) return false;
  return stderr.isTTY;
}

async function answerRoot(system: System, parsed: Exclude<Parsed, { kind: "run" }>): Promise<number> {
  if (parsed.kind === "version") {
    const { VERSION } = await import("../src/contract/version.ts");
    await system.stdout.write(`${VERSION}\n`);
    return 0;
  }
  const { helpFor } = await import("./help.ts");
  if (parsed.kind === "help") {
    await system.stdout.write(helpFor(parsed.of));
    return 0;
  }
  // A group without a command is an error, which its help explains.
  await system.stderr.write(helpFor(parsed.of));
  return 2;
}

/** Also for a line that cannot be parsed: its error must be in the requested format. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end < 0 ? argv.length : end).some((word) => /^--(json|jq)(=|$)/.test(word));
}

async function report(system: System, argv: readonly string[], error: unknown): Promise<void> {
  const failure = error instanceof CliError ? error : internal(system, error);
  const { request_id, conflicts, hint, log } = failure.extra;
  if (asksForJson(argv)) {
    const body = { code: failure.code, message: failure.message, ...failure.extra };
    return system.stderr.write(`${safeJson(JSON.stringify({ error: body }))}\n`);
  }
  const options = { color: undefined, noColor: argv.includes("--no-color"), quiet: false };
  const paint = painter(usesColour(system.stderr, system.env, options));
  const request = request_id === undefined ? "" : ` (request ${oneLine(request_id)})`;
  let text = `${paint.red("error:")} ${lines(failure.message)}${failure.code === "internal" ? request : ""}\n`;
  for (const path of conflicts ?? []) text += `  ${paint.red("conflict")}  ${oneLine(path)}\n`;
  for (const line of log ?? []) text += `  ${paint.dim(`${oneLine(line.source)} |`)} ${logText(line.text)}\n`;
  if (hint !== undefined) text += `${paint.cyan("hint:")} ${lines(hint)}\n`;
  // docs/troubleshooting.md is keyed by it
  if (!SELF_EXPLANATORY.has(failure.code)) text += `${paint.dim("code:")} ${oneLine(failure.code)}\n`;
  await system.stderr.write(text);
}

/** Codes of errors whose message is all that there is to say. */
const SELF_EXPLANATORY: ReadonlySet<string> = new Set(["usage", "cancelled"]);

function internal(system: System, error: unknown): CliError {
  const detail =
    error instanceof Error ? (system.env["SVC_DEBUG"] ? error.stack : error.message) : String(error);
  return new CliError("internal", `Internal error in svc: ${detail}`, {
    hint: "This is a bug in svc. SVC_DEBUG=1 prints a stack trace.",
  });
}
