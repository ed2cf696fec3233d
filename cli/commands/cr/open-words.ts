import type { Project } from "../../../src/contract/project.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { editText } from "../../editor.ts";
import { usage } from "../../failure.ts";
import type { ProjectRef } from "../../project.ts";
import { filled, fromCommits } from "./from-commits.ts";
import { defaultTemplate, findTemplate, templatesOf } from "./templates.ts";

export interface Wanted {
  title: string | undefined;
  fill: boolean;
  editor: boolean;
  /** The template that was named. */
  template: string | undefined;
  head: string;
  base: string | undefined;
  /** The description, as far as it was given. */
  given: string | undefined;
}

interface Words {
  title: string;
  description: string | undefined;
}

/**
 * Title and description: as given, with `--fill` from the commits, from a template, in an editor, or by prompting. A template that
 * is not named comes after the commits of `--fill`, and is left out where nothing can be edited.
 */
export async function wordsOf(context: Context, project: ProjectRef, wanted: Wanted): Promise<Words> {
  const { title, fill, editor, template, head, base } = wanted;
  const given =
    template === undefined
      ? wanted.given
      : findTemplate(await templatesOf(context, project, base), template).body;
  if (title !== undefined && !fill && !editor) return { title, description: given };
  const into = base ?? (await defaultBranch(context, project));
  if (fill) {
    const words = await filled(context.system, head, into);
    const all = { title: title ?? words.title, description: given ?? words.description };
    return editor ? await edited(context, all) : all;
  }
  const words = await fromCommits(context.system, head, into);
  const description = given ?? (await defaultTemplate(context, project, base));
  if (editor)
    return await edited(context, {
      title: title ?? words?.title ?? "",
      description: description ?? words?.description,
    });
  const { text } = await import("../../prompt.ts");
  const answer = (await text("Title", words?.title)).trim();
  if (answer === "") throw noTitle();
  if (given !== undefined || description === undefined) return { title: answer, description: given };
  return { title: answer, description: await asked(context, description) };
}

/** What becomes of the template that was found. */
async function asked(context: Context, template: string): Promise<string | undefined> {
  const { choose } = await import("../../prompt.ts");
  const choice = await choose("The project has a template of the description", [
    { value: "edit", label: "Edit it" },
    { value: "use", label: "Use it as it is" },
    { value: "none", label: "No description" },
  ]);
  if (choice === "none") return undefined;
  return choice === "use" ? template : (await editText(context, FILE, template)).trimEnd();
}

/** The first line is the title, the rest the description. */
async function edited(context: Context, { title, description = "" }: Words): Promise<Words> {
  const text = (await editText(context, FILE, `${title}\n\n${description}`)).trim();
  const end = text.indexOf("\n");
  if (end < 0) return { title: text, description: "" };
  return { title: text.slice(0, end).trim(), description: text.slice(end).trim() };
}

/** Editors highlight it as Markdown. */
const FILE = "CHANGE_REQUEST.md";

async function defaultBranch(context: Context, project: ProjectRef): Promise<string> {
  const api = await context.api();
  return (await api.call<Project>({ path: path`/projects/${project.id}` })).default_branch;
}

export const noTitle = () =>
  usage("svc cr open needs --title <text>.", "--fill takes the title and the description from the commits.");
