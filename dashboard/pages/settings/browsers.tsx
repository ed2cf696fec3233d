import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { NotificationSettings, PushBrowser } from "../../../src/contract/notification.ts";
import { call } from "../../api/call.ts";
import { NOTIFICATION_SETTINGS } from "../../api/notifications.ts";
import { path } from "../../api/path.ts";
import { canPush, subscribe, unsubscribe } from "../../api/push.ts";
import { Ago } from "../../parts/ago.tsx";
import { browserName } from "../../parts/browser-name.ts";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/notice.tsx";
import { readStored, store } from "../../parts/stored.ts";
import { Visible } from "../../parts/visible.tsx";

const AT = "/accounts/notifications/browsers";
/** The id of this browser. */
const STORED = "svc-push-browser";

/** The browsers that push is on in, and a button to switch it on in this one. */
export function Browsers({ settings }: { settings: NotificationSettings }) {
  const queries = useQueryClient();
  const [own, setOwn] = useState(() => readStored(STORED));
  const changed = () => queries.invalidateQueries({ queryKey: NOTIFICATION_SETTINGS });
  const add = useMutation({
    async mutationFn() {
      const { endpoint, keys } = (await subscribe(settings.push_key)).toJSON();
      const body = { endpoint, keys, name: browserName(navigator.userAgent) };
      return await call<PushBrowser>("POST", AT, { body });
    },
    async onSuccess({ browser_id }) {
      store(STORED, browser_id);
      setOwn(browser_id);
      await changed();
    },
  });
  const remove = useMutation({
    async mutationFn(id: string) {
      if (id === own) await unsubscribe();
      await call("DELETE", AT + path`/${id}`);
    },
    onSettled: changed,
  });
  const isOn = settings.browsers.some(({ browser_id }) => browser_id === own);
  return (
    <div className="flex flex-col items-start gap-3">
      <h3 className="font-medium">Push</h3>
      <Failure error={add.error ?? remove.error} />
      {!canPush() && (
        <p className="text-muted text-sm">
          This browser takes no pushed messages here. It needs https; on iPhones, add this page to the Home
          Screen first.
        </p>
      )}
      {canPush() && !isOn && (
        <Button busy={add.isPending} onClick={() => add.mutate()}>
          Switch on in this browser
        </Button>
      )}
      <ul aria-label="Browsers with push" className="w-full divide-y divide-line">
        {settings.browsers.map((browser) => (
          <li key={browser.browser_id} className="flex flex-wrap items-center justify-between gap-2 py-2">
            <div>
              <p>
                <Visible>{browser.name}</Visible>
                {browser.browser_id === own && <span className="text-muted"> (this browser)</span>}
              </p>
              <p className="text-muted text-sm">
                {browser.delivered_at === null ? (
                  <>
                    On since <Ago at={browser.created_at} />
                  </>
                ) : (
                  <>
                    Last push <Ago at={browser.delivered_at} />
                  </>
                )}
              </p>
              {browser.error !== null && <p className="text-danger text-sm">{browser.error}</p>}
            </div>
            <Button busy={remove.isPending} onClick={() => remove.mutate(browser.browser_id)}>
              Switch off
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}
