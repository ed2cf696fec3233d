import { type ComponentType, lazy } from "react";

/** Pauses before a page's code is asked for again, in milliseconds. */
const PAUSES_MS = [250, 1_000];

/**
 * A page whose code is loaded when it is first shown. Browsers drop what they are loading when the machine's network
 * changes (another Wi-Fi, a VPN, a container): that is no reason to say that the page is broken.
 */
export function lazyPage<Props>(load: () => Promise<ComponentType<Props>>) {
  return lazy(async () => ({ default: await patiently(load) }));
}

async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await work();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  return await work();
}
