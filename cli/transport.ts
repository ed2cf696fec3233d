import type { Transport } from "../src/conversation/transport.ts";
import { type Api, readBounded } from "./api.ts";
import { unexpected } from "./api-failure.ts";
import type { Opened } from "./request.ts";

/** The transport for code that is shared with the dashboard. Throws CliError. */
export function transportOf(api: Api): Transport {
  return {
    get: async (path, query = {}) => readValue(await api.open({ path, query })),
    post: async (path, body) => readValue(await api.open({ method: "POST", path, body })),
    async stream(path, { signal, silentSeconds, headers = {} }) {
      const accept = "text/event-stream";
      return (await api.open({ path, accept, headers, seconds: silentSeconds, signal })).stream();
    },
    unexpected,
  };
}

/** The JSON of a response; null if it has no body. @throws CliError `unexpected_response` */
async function readValue(opened: Opened): Promise<unknown> {
  const answer = new TextDecoder().decode(await readBounded(opened));
  if (answer.trim() === "") return null;
  try {
    const value: unknown = JSON.parse(answer);
    if (typeof value === "boolean" || typeof value === "object") return value;
  } catch {}
  throw unexpected("an answer that is not the agent runtime's");
}
