/** Why an app does not count as there yet, in the words that end "The app …". */
export type HealthCheck = { ok: true } | { ok: false; isSilent: boolean; why: string };

/** Whether an app answers: any HTTP answer below 500 on `/`. One that gives none at all is silent. */
export async function checkHealth(port: number, askMs: number): Promise<HealthCheck> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      redirect: "manual",
      signal: AbortSignal.timeout(askMs),
      keepalive: false,
      headers: { "User-Agent": "svc" },
    });
    await response.body?.cancel();
    return response.status < 500
      ? { ok: true }
      : { ok: false, isSilent: false, why: `answers / with ${response.status}` };
  } catch (error) {
    const isRefused = error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
    const why = isRefused ? `does not listen on port ${port}` : "does not answer by HTTP";
    return { ok: false, isSilent: true, why };
  }
}
