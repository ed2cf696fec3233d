import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Usage } from "../../src/contract/usage.ts";
import { type SessionBench, startSessions } from "./sessions.ts";
import { type ScriptedUpstream, startUpstream } from "./upstream.ts";

/** The credential of the upstreams: tests search for it where it must not be. */
export const UPSTREAM_KEY = "sk-upstream-Xq7v9Lm2";

/** A server with two upstreams, and a session with a key. */
export interface ModelBench extends AsyncDisposable {
  sessions: SessionBench;
  openai: ScriptedUpstream;
  /** The second upstream of the model `both`. */
  second: ScriptedUpstream;
  anthropic: ScriptedUpstream;
  file: string;
  accountId: string;
  /** Starts a session. @returns its id and its key */
  session(): Promise<{ id: string; key: string }>;
  /** Sends a request with a session's key. @param path below `/v1/llm/` */
  call(key: string, path: string, body: unknown, init?: RequestInit): Promise<Response>;
  usage(query?: string): Promise<Usage>;
}

export const PRICES = { input: 2, output: 8, cached: 0.5 };

export function modelsFile(bench: Pick<ModelBench, "openai" | "second" | "anthropic">): string {
  const upstream = (id: string, format: string, { url }: ScriptedUpstream, models: string[]) => `
[[upstreams]]
id = "${id}"
format = "${format}"
url = "${url}"
key = "${UPSTREAM_KEY}"
${models.map((model) => `[[upstreams.models]]\n${model}\n`).join("")}`;
  const prices = `input = ${PRICES.input}\noutput = ${PRICES.output}\ncached_input = ${PRICES.cached}`;
  return [
    upstream("first", "openai", bench.openai, [
      `id = "fast"\n${prices}`,
      `id = "both"\n${prices}`,
      `id = "mapped"\nname = "the-upstreams-own/name"`,
    ]),
    upstream("second", "openai", bench.second, [`id = "both"\n${prices}`]),
    upstream("claude", "anthropic", bench.anthropic, [`id = "claude"\n${prices}`]),
  ].join("");
}

export async function startModels(
  options: Pick<Parameters<typeof startSessions>[0] & object, "env" | "dataDir" | "deps"> = {},
): Promise<ModelBench> {
  const [openai, second, anthropic] = await Promise.all([
    startUpstream(UPSTREAM_KEY),
    startUpstream(UPSTREAM_KEY),
    startUpstream(UPSTREAM_KEY),
  ]);
  const folder = mkdtempSync(join(tmpdir(), "svc-models-"));
  const file = join(folder, "models.toml");
  writeFileSync(file, modelsFile({ openai, second, anthropic }));
  const sessions = await startSessions({ ...options, env: { SVC_MODELS_FILE: file, ...options.env } });
  const { api } = sessions;
  const accountId: string = (await api.call("GET", "/v1/accounts/me")).body.accounts[0].account_id;
  return {
    sessions,
    openai,
    second,
    anthropic,
    file,
    accountId,
    async session() {
      const { session_id: id } = await sessions.create();
      await sessions.becomes(id, "running");
      return { id, key: sessions.provider.sandboxes.get(id)?.environment["SVC_LLM_API_KEY"] ?? "" };
    },
    call: (key, path, body, init = {}) =>
      fetch(`${api.url}/v1/llm/${path}`, {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${key}` },
        ...init,
      }),
    usage: async (query = "") => (await api.call("GET", `/v1/accounts/${accountId}/usage${query}`)).body,
    async [Symbol.asyncDispose]() {
      await sessions.stop();
      for (const upstream of [openai, second, anthropic]) await upstream[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
