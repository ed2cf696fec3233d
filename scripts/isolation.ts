import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../src/config.ts";
import { dockerAnswers } from "../src/sandboxes/docker/engine.ts";
import { findIsolation } from "../src/sandboxes/local/isolation.ts";
import { ask, canAsk } from "./ask.ts";

/** Facts about the machine that determine the isolation of sandboxes. */
export interface Situation {
  dataDir: string;
  isRoot: boolean;
  /** Whether there is a terminal for a prompt. */
  canAsk: boolean;
  /** Why local sandboxes cannot be isolated; null if they can, or if they are not used. */
  problem: string | null;
  ask(question: string): Promise<boolean>;
}

/**
 * Sets `SVC_SANDBOX_ISOLATION` for `npm start` if the operator has not: to `none` only if bubblewrap is not available and the
 * user confirmed it on the terminal, and never for root. The data folder stores the confirmation.
 * @returns variables to add to the environment of the server
 */
export async function chooseIsolation(situation?: Situation): Promise<Record<string, string>> {
  const { dataDir, problem, ...rest } = situation ?? (await look());
  if (problem === null || rest.isRoot) return {};
  const file = join(dataDir, ANSWER_FILE);
  const answer =
    readAnswer(file) ?? (rest.canAsk ? ((await rest.ask(questionOf(problem))) ? "none" : "required") : null);
  if (answer === null) return {};
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(file, `${answer}\n`, { mode: 0o600 });
  return { SVC_SANDBOX_ISOLATION: answer };
}

const ANSWER_FILE = "sandbox-isolation";

const questionOf = (problem: string) =>
  `${problem}\nWithout isolation an agent can read your files and keys, and do whatever else you can.\nRun sessions without isolation?`;

function readAnswer(file: string): "none" | "required" | null {
  try {
    const text = readFileSync(file, "utf8").trim();
    return text === "none" || text === "required" ? text : null;
  } catch {
    return null;
  }
}

async function look(): Promise<Situation> {
  const isRoot = process.getuid?.() === 0;
  const situation = { dataDir: "", isRoot, canAsk: canAsk(), ask: (text: string) => ask(text, "no") };
  if (isRoot || process.env["SVC_SANDBOX_ISOLATION"]) return { ...situation, problem: null };
  try {
    const { dataDir, sandboxProviders } = readConfig(process.env);
    const isLocal =
      sandboxProviders.length > 0 ? sandboxProviders.includes("local") : !(await dockerAnswers());
    if (!isLocal) return { ...situation, problem: null };
    const isolation = findIsolation({ dataDir, isolation: "required" });
    return { ...situation, dataDir, problem: await isolation.then(() => null, wordsOf) };
  } catch {
    // the server reports errors in its configuration
    return { ...situation, problem: null };
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
