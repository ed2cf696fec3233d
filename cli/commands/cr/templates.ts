import type {
  ChangeRequestTemplate,
  ChangeRequestTemplates,
} from "../../../src/contract/change-request-template.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import type { ProjectRef } from "../../project.ts";
import { oneLine } from "../../text.ts";

/** The templates of the branch that is merged into. */
export async function templatesOf(
  context: Context,
  project: ProjectRef,
  base: string | undefined,
): Promise<ChangeRequestTemplate[]> {
  const api = await context.api();
  const { templates } = await api.call<ChangeRequestTemplates>({
    path: path`/projects/${project.id}/change-request-templates`,
    ...(base !== undefined && { query: { base } }),
    slow: true,
  });
  return templates;
}

/** @param wanted its name, its file name or its path @throws CliError `usage` if there is none with this name */
export function findTemplate(
  templates: readonly ChangeRequestTemplate[],
  wanted: string,
): ChangeRequestTemplate {
  const found =
    templates.find(({ path: file }) => file === wanted) ??
    templates.find(({ name, path: file }) => name === wanted || file.endsWith(`/${wanted}`));
  if (found) return found;
  const names = templates.map(({ name }) => oneLine(name)).join(", ");
  throw usage(
    `There is no template ${oneLine(wanted)}.`,
    names === ""
      ? "The base branch has no templates, such as .svc/change_request_template.md."
      : `The base branch has: ${names}`,
  );
}

/** The text to begin with if no template is named; none if they cannot be read, because they are optional. */
export async function defaultTemplate(
  context: Context,
  project: ProjectRef,
  base: string | undefined,
): Promise<string | undefined> {
  try {
    return (await templatesOf(context, project, base)).find(({ is_default }) => is_default)?.body;
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}
