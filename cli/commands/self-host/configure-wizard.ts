import { CliError } from "../../failure.ts";
import { oneLine } from "../../text.ts";
import { QUESTIONS, type Question } from "./configure-questions.ts";
import type { Env } from "./env-file.ts";
import { changesOf } from "./prepare.ts";
import { checkSetting } from "./settings.ts";
import type { State } from "./state.ts";

/** What a person types to remove a setting. */
const REMOVE = "none";

/**
 * Asks the questions on the terminal. Enter keeps what is set; secrets are not shown.
 * @returns only what changes
 * @throws CliError `cancelled`; nothing was stored then
 */
export async function askAll(env: Env, mode: State["mode"]): Promise<Map<string, string>> {
  const clack = await import("@clack/prompts");
  const output = process.stderr;
  clack.intro("Settings of your server", { output });
  clack.log.info(`Enter keeps what is set. Type ${REMOVE} to remove a setting.`, { output });
  const answers = new Map<string, string>();
  const settingOf = (setting: string): string => answers.get(setting) ?? env.get(setting) ?? "";
  for (const question of QUESTIONS) {
    const { setting, after } = question;
    if (after !== undefined && settingOf(after) === "") {
      // what belongs to a removed setting is removed with it
      if (env.has(setting)) answers.set(setting, "");
      continue;
    }
    for (const [name, value] of await ask(question, env.get(setting) ?? "", mode)) {
      if (value !== (env.get(name) ?? "")) answers.set(name, value);
    }
  }
  clack.outro(answers.size === 0 ? "Nothing changed." : "Done.", { output });
  return answers;
}

/** @returns the settings that the answer sets */
async function ask(question: Question, current: string, mode: State["mode"]): Promise<Map<string, string>> {
  const clack = await import("@clack/prompts");
  const { label, secret, choices, setting } = question;
  const output = process.stderr;
  const validate = (text: string | undefined) => problemOf(question, text ?? "", mode);
  const answer = choices
    ? await clack.select({
        message: label,
        options: choices.map((value) => ({ value, label: value })),
        initialValue: current || choices[0],
        output,
      })
    : secret
      ? await clack.password({
          message: `${label}${current === "" ? "" : " (set; Enter keeps it)"}`,
          validate,
          output,
        })
      : await clack.text({ message: label, placeholder: oneLine(current), validate, output });
  if (clack.isCancel(answer)) throw new CliError("cancelled", "Cancelled; nothing was changed.");
  const text = `${answer ?? ""}`.trim();
  // the first choice is the default of the server
  const isKept = text === "" || (current === "" && text === choices?.[0]);
  return isKept ? new Map([[setting, current]]) : settingsOf(question, text, mode);
}

function problemOf(question: Question, text: string, mode: State["mode"]): string | undefined {
  try {
    if (text.trim() !== "")
      for (const [name, value] of settingsOf(question, text.trim(), mode)) checkSetting(name, value, mode);
    return undefined;
  } catch (error) {
    if (error instanceof CliError) return error.message;
    throw error;
  }
}

/** @throws CliError `usage` for an invalid answer */
function settingsOf({ flag, setting }: Question, text: string, mode: State["mode"]): Map<string, string> {
  if (text === REMOVE) return new Map([[setting, ""]]);
  if (flag === "listen") return changesOf({ listen: text, publicUrl: undefined }, mode);
  if (flag === "public-url") return changesOf({ listen: undefined, publicUrl: text }, mode);
  return new Map([[setting, text]]);
}
