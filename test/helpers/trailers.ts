import type { Api } from "./api.ts";

/** The server's public address. */
export const publicOrigin = (api: Pick<Api, "url">): string => `http://localhost:${new URL(api.url).port}`;

/** The trailers of what the first user merges as the first change request of a project. */
export async function trailersOf(api: Api, { slug }: { slug: string }): Promise<string> {
  const { name, email } = (await api.call("GET", "/v1/accounts/me")).body;
  return `Merged-by: ${name} <${email}>\nChange-Request: ${publicOrigin(api)}/projects/${slug}/change-requests/1`;
}
