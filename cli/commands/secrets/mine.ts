import type { Project } from "../../../src/contract/project.ts";
import type { OwnSecret, OwnSecretList, Secret } from "../../../src/contract/secret.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { oneLine } from "../../text.ts";

/** The secrets that the user holds; `for` has the slugs of their projects. */
export async function listMine(context: Context): Promise<Secret[]> {
  const api = await context.api();
  const { items } = await api.call<OwnSecretList>({ path: "/accounts/secrets" });
  return items.map(toSecret);
}

/**
 * Sets secrets that the user holds, and gives them to the project.
 * @param kept names of those that keep their values
 */
export async function setMine(
  context: Context,
  values: ReadonlyMap<string, string>,
  kept: readonly string[],
): Promise<Secret[]> {
  const { id } = await context.project();
  const api = await context.api();
  // nothing is set for a project that does not exist
  await api.call<Project>({ path: path`/projects/${id}` });
  const done: Secret[] = [];
  for (const name of new Set([...values.keys(), ...kept])) {
    const at = path`/accounts/secrets/${name}`;
    const value = values.get(name);
    if (value !== undefined) await api.call<OwnSecret>({ method: "PUT", path: at, body: { value } });
    const given = await api.call<OwnSecret>({ method: "PUT", path: at + path`/projects/${id}` });
    done.push(toSecret(given));
  }
  return done;
}

/** Removes secrets that the user holds, or with --project takes them from the sessions there. */
export async function unsetMine(context: Context, names: ReadonlySet<string>): Promise<void> {
  const given = context.globals.project === undefined ? null : await context.project();
  const api = await context.api();
  for (const name of names) {
    const at = path`/accounts/secrets/${name}`;
    await api.call({ method: "DELETE", path: given ? at + path`/projects/${given.id}` : at });
  }
}

/** What is set, as a sentence for each. */
export function sentences(secrets: readonly Secret[]): string {
  return secrets
    .map(({ name, for: slugs }) => `Set ${name} for your sessions in ${oneLine(slugs.join(", "))}.\n`)
    .join("");
}

function toSecret({ name, projects, created_at, updated_at }: OwnSecret): Secret {
  return { name, for: projects.map(({ slug }) => slug), set_by: null, created_at, updated_at };
}
