/** `why` completes the sentence "The app …". Silent: there was no HTTP response. */
export type HealthCheck = { ok: true } | { ok: false; isSilent: boolean; why: string };

/** Checks whether an app is healthy: it returns any status below 500 for `/`. */
export async function checkHealth(port: number, timeoutMs: number): Promise<HealthCheck> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
      keepalive: false,
      headers: { "User-Agent": "svc" },
    });
    await response.body?.cancel();
    return response.status < 500
      ? { ok: true }
      : { ok: false, isSilent: false, why: `returns status ${response.status} for /` };
  } catch (error) {
    const isRefused = error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
    const why = isRefused ? `does not listen on port ${port}` : "does not respond to HTTP requests";
    return { ok: false, isSilent: true, why };
  }
}
