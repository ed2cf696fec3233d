import {
  type Annotation,
  type CheckRun,
  type CheckRunList,
  STATE_OF_CONCLUSION,
} from "../../../src/contract/check-run.ts";
import { path as at } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import { count, lines, oneLine } from "../../text.ts";
import { type Found, readCr } from "./reference.ts";

/** Poll interval of a run that has not been completed. */
const POLL_MS = 3_000;
/** Annotations that are printed. */
const SHOWN = 100;

/**
 * Prints what the check run of a name says: summary, annotations and text.
 * @param follows waits until it is completed
 * @returns false: the last commit has no check run of this name. @throws CliError `checks_failed`
 */
export async function showRunOutput(
  context: Context,
  found: Found,
  name: string,
  follows: boolean,
): Promise<boolean> {
  const { out, system } = context;
  const { project_id: projectId, head_commit_sha: sha } = await readCr(found);
  if (sha === null) return false;
  const read = async (): Promise<CheckRun | undefined> => {
    const path = at`/projects/${projectId}/commits/${sha}/check-runs`;
    return (await found.api.call<CheckRunList>({ path, query: { check_name: name } })).check_runs[0];
  };
  let run = await read();
  if (!run) return false;
  while (follows && run.status !== "completed") {
    await system.sleep(POLL_MS);
    run = (await read()) ?? run;
  }
  const path = at`/projects/${projectId}/check-runs/${run.id}/annotations`;
  const annotations = await found.api.items<Annotation>({ path, query: { per_page: SHOWN } });
  const text = textOf(run, annotations);
  await out.result(null, () => text);
  if (text === "") await out.note("It has no output.");
  const { conclusion, status, output } = run;
  const left = output.annotations_count - annotations.length;
  if (left > 0) await out.note(`${count(left, "annotation")} more.`);
  await out.note(
    `${oneLine(run.name)} is ${conclusion ?? status}${output.title ? `: ${oneLine(output.title)}` : "."}`,
  );
  const hasFailed = conclusion !== null && STATE_OF_CONCLUSION[conclusion] !== "success";
  if (hasFailed) throw new CliError("checks_failed", `The check ${oneLine(run.name)} failed.`);
  return true;
}

function textOf({ output: { summary, text } }: CheckRun, annotations: readonly Annotation[]): string {
  const noted = annotations.map(
    ({ path, start_line, annotation_level, title, message }) =>
      `${oneLine(path)}:${start_line}: ${annotation_level}: ${title ? `${oneLine(title)}: ` : ""}${lines(message).trimEnd()}`,
  );
  const parts = [lines(summary ?? "").trim(), noted.join("\n"), lines(text ?? "").trim()];
  return parts
    .filter((part) => part !== "")
    .map((part) => `${part}\n`)
    .join("\n");
}
