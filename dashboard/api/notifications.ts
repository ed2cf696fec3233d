import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Notifications, ReadNotificationsBody } from "../../src/contract/notification.ts";
import { call } from "./call.ts";
import { useGet } from "./get.ts";
import { useShown } from "./shown.ts";

export const NOTIFICATIONS = ["notifications"];
/** The key of the query of the settings. */
export const NOTIFICATION_SETTINGS = ["notification-settings"];
/** How many the list shows; the command line shows all. */
const SHOWN = 20;
/** The events of the shown project, and a push, come sooner. */
const POLL_MS = 30_000;

/** What the signed-in user was notified of last. */
export function useNotifications() {
  const queries = useQueryClient();
  const isShown = useShown();
  useEffect(() => {
    const workers = navigator.serviceWorker;
    const changed = () => void queries.invalidateQueries({ queryKey: NOTIFICATIONS });
    workers?.addEventListener("message", changed);
    return () => workers?.removeEventListener("message", changed);
  }, [queries]);
  return useGet<Notifications>(NOTIFICATIONS, `/accounts/notifications?limit=${SHOWN}`, {
    refetchInterval: isShown && POLL_MS,
  });
}

/** Marks notifications as read: those named, or all. */
export function useRead() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: ReadNotificationsBody) => call("POST", "/accounts/notifications/read", { body }),
    onSettled: () => queries.invalidateQueries({ queryKey: NOTIFICATIONS }),
  });
}
