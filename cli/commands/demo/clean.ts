import type { Project } from "../../../src/contract/project.ts";
import type { Session } from "../../../src/contract/session.ts";
import { type Api, path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { oneLine } from "../../text.ts";
import { type DemoRecord, type demoPaths, removeRecord } from "./record.ts";
import { findDemoProject, orNull } from "./stage.ts";

/**
 * Deletes the demo: the sessions of its project with their sandboxes, then the project with its change requests, its app
 * and its repository, then the record. Nothing but the project of the record is touched.
 */
export async function clean(
  context: Context,
  api: Api,
  files: ReturnType<typeof demoPaths>,
  record: DemoRecord | null,
  isConfirmed: boolean,
): Promise<void> {
  const { out } = context;
  const project = record && (await findDemoProject(api, record));
  if (record === null || project === null) {
    await removeRecord(files);
    return out.result(NOTHING, () => `There is no demo on ${api.target.name}.\n`);
  }
  if (!isConfirmed) {
    const { confirm } = await import("../../prompt.ts");
    const what = `${project.name} (${project.slug}) with its sessions, its app and its repository`;
    if (!(await confirm(`Delete ${what}?`))) return out.note("Nothing was deleted.");
  }
  await deleteSessions(api, project);
  await orNull(api.call({ method: "DELETE", path: path`/projects/${project.project_id}`, slow: true }));
  await removeRecord(files);
  const { project_id, slug } = project;
  const answer = { ...NOTHING, project_id, project_slug: slug, session_id: record.session_id, deleted: true };
  await out.result(answer, () => `Deleted ${oneLine(project.name)} (${oneLine(slug)}).\n`);
}

const NOTHING = {
  project_id: null,
  project_slug: null,
  session_id: null,
  cr_number: null,
  merge_commit_sha: null,
  url: null,
  heading: null,
  deleted: false,
};

/** A session is deleted when its sandbox has ended; deleting the project does not wait for it. */
async function deleteSessions(api: Api, { project_id }: Project): Promise<void> {
  const collection = path`/projects/${project_id}/sessions`;
  for (const { session_id } of await api.list<Session>({ path: collection }, "sessions")) {
    await orNull(api.call({ method: "DELETE", path: `${collection}${path`/${session_id}`}`, slow: true }));
  }
}
