import { path } from "../../api.ts";
import type { Context } from "../../context.ts";

/** The API path of the upstreams of the project, or of the server. */
export async function upstreamsPath(context: Context, flags: { server: boolean }): Promise<string> {
  if (flags.server) return "/server/model-upstreams";
  const { id } = await context.project();
  return path`/projects/${id}/model-upstreams`;
}
