import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import {
  addPushBrowserBody,
  editNotificationSettingsBody,
  notificationSettings,
  notifications,
  pushBrowser,
  readNotificationsBody,
  unreadNotifications,
} from "../../contract/notification.ts";
import { oneOf } from "../../contract/schema.ts";
import type { Deps } from "../../deps.ts";
import { pageQuery, readPage } from "../../http/page.ts";
import { answer, ok, uuidParam } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { addBrowser, removeBrowser } from "./browsers.ts";
import { listNotifications, readNotifications } from "./list.ts";
import { editSettings, readSettings } from "./settings.ts";

const listQuery = Type.Object({
  ...pageQuery,
  unread: Type.Optional(oneOf(["true", "false"])),
});

/** What the caller is notified of, and how. */
export const notificationRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/accounts/notifications", tags: ["notifications"] })
    .use(guard(deps))
    .get(
      "",
      ({ caller, query }) =>
        listNotifications(deps, caller, { ...readPage(query), isUnread: query.unread === "true" }),
      { user: true, query: listQuery, ...answer(200, notifications) },
    )
    .post("/read", ({ caller, body }) => readNotifications(deps, caller, body), {
      user: true,
      body: readNotificationsBody,
      ...answer(200, unreadNotifications),
    })
    .get("/settings", ({ caller }) => readSettings(deps, caller), {
      user: true,
      ...answer(200, notificationSettings),
    })
    .patch("/settings", ({ caller, body }) => editSettings(deps, caller, body), {
      user: true,
      body: editNotificationSettingsBody,
      ...answer(200, notificationSettings),
    })
    .post(
      "/browsers",
      ({ caller, body, set }) => {
        set.status = 201;
        return addBrowser(deps, caller, body);
      },
      { user: true, body: addPushBrowserBody, ...answer(201, pushBrowser) },
    )
    .delete("/browsers/:browserId", ({ caller, params }) => removeBrowser(deps, caller, params.browserId), {
      user: true,
      params: Type.Object({ browserId: uuidParam }),
      ...answer(200, ok),
    });
