import type { Api } from "./api.ts";
import { until } from "./until.ts";

/** The current metrics of the server. The page is cached for seconds, so this waits for the next version. */
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
