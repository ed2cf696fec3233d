import { SERVICE_WORKER, SERVICE_WORKER_POLICY } from "../../src/contract/notification-event.ts";
import { ApiFailure } from "./failure.ts";

/** Whether this browser takes pushed messages: not without https, except on localhost. */
export const canPush = (): boolean =>
  "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

/** The subscription of this browser; null: push is off in it. */
async function findSubscription(): Promise<PushSubscription | null> {
  const registration = await navigator.serviceWorker.getRegistration(SERVICE_WORKER);
  return (await registration?.pushManager.getSubscription()) ?? null;
}

/**
 * Subscribes this browser, after the user has allowed notifications.
 * @param key the server's public key
 * @throws ApiFailure
 */
export async function subscribe(key: string): Promise<PushSubscription> {
  if ((await Notification.requestPermission()) !== "granted")
    throw new ApiFailure(
      0,
      "push_denied",
      "This browser does not allow notifications of this site. Allow them in its settings.",
    );
  const registration = await navigator.serviceWorker.register(workerUrl());
  await navigator.serviceWorker.ready;
  // one that was made for another key of the server would be refused
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  try {
    return await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  } catch {
    throw new ApiFailure(
      0,
      "push_failed",
      "The push service of this browser does not answer. Try again later.",
    );
  }
}

export async function unsubscribe(): Promise<void> {
  await (await findSubscription())?.unsubscribe();
}

/** The policy of this page's scripts requires that the address of a worker is made by this policy. */
function workerUrl(): string {
  const types = window.trustedTypes;
  if (!types) return SERVICE_WORKER;
  workers ??= types.createPolicy(SERVICE_WORKER_POLICY, { createScriptURL: () => SERVICE_WORKER });
  return workers.createScriptURL("");
}
let workers: { createScriptURL(text: string): string } | undefined;

declare global {
  interface Window {
    trustedTypes?: {
      createPolicy(
        name: string,
        rules: { createScriptURL(text: string): string },
      ): { createScriptURL(text: string): string };
    };
  }
}
