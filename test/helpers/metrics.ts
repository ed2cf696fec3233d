import type { Api } from "./api.ts";
import { until } from "./until.ts";

/** The server's metrics as they are now: a page is shared for seconds, so this waits for the next one. */
export async function metricsOf(api: Pick<Api, "call">): Promise<string> {
  const read = async () => (await api.call("GET", "/metrics")).text;
  const before = await read();
  let page = before;
  await until("the metrics are collected again", async () => {
    page = await read();
    return page !== before;
  });
  return page;
}
