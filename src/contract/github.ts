import { type Static, Type } from "@sinclair/typebox";
import { STATUS_STATES } from "./commit-status.ts";
import { nullable, oneOf } from "./schema.ts";

const text = Type.String();
const time = Type.String({ format: "date-time" });

/** A commit status as GitHub's REST API has it: clients of GitHub expect a number as its id. */
export const githubStatus = Type.Object({
  id: Type.Integer(),
  state: oneOf(STATUS_STATES),
  context: text,
  description: nullable(text),
  target_url: nullable(text),
  creator: nullable(Type.Object({ login: text })),
  created_at: time,
  updated_at: time,
});
export type GithubStatus = Static<typeof githubStatus>;

/** The answer of `GET /v1/github/repos/:owner/:repo/commits/:ref/status`: without check runs, as on GitHub. */
export const githubCombinedStatus = Type.Object({
  sha: text,
  state: oneOf(["failure", "pending", "success"]),
  total_count: Type.Integer(),
  statuses: Type.Array(githubStatus),
});
export type GithubCombinedStatus = Static<typeof githubCombinedStatus>;
