import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withoutRuntime } from "./browser.ts";
import type { Context } from "./context.ts";
import { CliError, usage } from "./failure.ts";
import { oneLine } from "./text.ts";

/**
 * Opens a text in the user's editor: VISUAL, EDITOR, or `vi` on a terminal. Like git, it takes the setting as a line of the shell.
 * @param name of the file, by which editors choose how to show it
 * @throws CliError `usage` without an editor, `cancelled` if the editor fails or the text is empty
 */
export async function editText(context: Context, name: string, initial: string): Promise<string> {
  const { env, stdin, stdout, stderr } = context.system;
  const editor = env["VISUAL"] || env["EDITOR"] || (context.canAsk() ? "vi" : null);
  if (editor === null)
    throw usage("There is no terminal to edit the text in.", "Set EDITOR, or pass the text by flags.");
  const folder = await mkdtemp(join(tmpdir(), "svc-edit-"));
  try {
    const file = join(folder, name);
    await writeFile(file, initial, { mode: 0o600 });
    const child = Bun.spawn(["sh", "-c", `${editor} "$@"`, editor, file], {
      cwd: context.system.cwd,
      env: withoutRuntime(env),
      stdin: stdin.fd,
      // the output may be for another program
      stdout: stdout.isTTY ? stdout.fd : stderr.fd,
      stderr: stderr.fd,
    });
    // Ctrl-C is for the editor
    const ignore = () => {};
    process.on("SIGINT", ignore);
    const code = await child.exited.finally(() => process.off("SIGINT", ignore));
    if (code !== 0) throw cancelled(`the editor ended with ${code}: ${oneLine(editor)}.`);
    const text = await readFile(file, "utf8");
    if (text.trim() === "") throw cancelled("the text is empty.");
    return text;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const cancelled = (why: string): CliError => new CliError("cancelled", `Cancelled: ${why}`);
