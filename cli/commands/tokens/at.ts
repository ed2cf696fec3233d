import type { ProjectToken, UserToken } from "../../../src/contract/account.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";

/** The API's path of the caller's tokens, or of the current project's. */
export async function tokensPath(context: Context, ofProject: boolean): Promise<string> {
  if (!ofProject) return "/accounts/tokens";
  const { id } = await context.project();
  return path`/projects/${id}/cli-token`;
}

/** A token with the fields of a project's, so that `--json` has the same for both. */
export function withPlace<T extends UserToken>(
  token: T,
): T & Pick<Nullable<ProjectToken>, "project_id" | "session_id"> {
  return { project_id: null, session_id: null, ...token };
}

type Nullable<T> = { [Key in keyof T]: T[Key] | null };
