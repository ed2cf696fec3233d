/** `why` completes the sentence "The app …". Silent: there was no HTTP response. */
export type HealthCheck = { ok: true } | { ok: false; isSilent: boolean; why: string };

interface HealthRequest {
  port: number;
  /** The path that must return a 2xx status; null: any status below 500 of `/`. */
  path: string | null;
  timeoutMs: number;
}

/** Checks whether an app is healthy. */
export async function checkHealth({ port, path, timeoutMs }: HealthRequest): Promise<HealthCheck> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path ?? "/"}`, {
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
      keepalive: false,
      headers: { "User-Agent": "svc" },
    });
    await response.body?.cancel();
    return response.ok || (path === null && response.status < 500)
      ? { ok: true }
      : { ok: false, isSilent: false, why: `returns status ${response.status} for ${path ?? "/"}` };
  } catch (error) {
    const isRefused = error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
    const why = isRefused ? `does not listen on port ${port}` : "does not respond to HTTP requests";
    return { ok: false, isSilent: true, why };
  }
}
