import { afterAll, expect, test } from "bun:test";
import { fetchCredential } from "../../daemon/git/credential.ts";
import { SERVICE_KEY, standInApi } from "../helpers/sandbox.ts";

const api = standInApi();
afterAll(() => api[Symbol.dispose]());

test.each([
  [503, false, "svc's API returned status 503."],
  [401, true, "its key was replaced, or the session was deleted."],
  [403, true, "the session has ended, or belongs to another project."],
  [404, true, "the project was not found."],
])("a credential that svc refuses with %d: permanent %p, %s", async (status, permanent, words) => {
  api.answer = () => Response.json({ error: "no", code: "x" }, { status });
  const asked = fetchCredential({ apiUrl: `${api.origin}/v1`, projectId: "p" }, SERVICE_KEY);
  const error: unknown = await asked.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ permanent, message: expect.stringContaining(words) });
});
