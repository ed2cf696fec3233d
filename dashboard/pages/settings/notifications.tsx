import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { NotificationSettings } from "../../../src/contract/notification.ts";
import {
  NOTIFICATION_WAYS,
  type NotificationEvent,
  type NotificationWay,
} from "../../../src/contract/notification-event.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { NOTIFICATION_SETTINGS } from "../../api/notifications.ts";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { Browsers } from "./browsers.tsx";

const EVENTS: Readonly<Record<NotificationEvent, string>> = {
  "session.waiting": "A session of mine waits for me",
  "session.done": "An agent has ended its turn",
  "cr.opened": "An agent or a script has opened a change request for me",
  "check.failed": "A check of my change request has failed",
  "cr.commented": "Somebody has commented on my change request",
  "cr.approved": "Somebody has approved my change request",
  "cr.changes_requested": "Somebody has requested changes on my change request",
  "cr.review_requested": "Somebody requested my review",
  "cr.dequeued": "A change request that I queued has left the merge queue",
  "cr.auto_merge_disabled": "Auto-merge that I turned on was turned off",
  "app.domain_lost": "A domain of an app in an account that I manage has lost its proof",
};
const WAYS: Readonly<Record<NotificationWay, string>> = { page: "List", push: "Push", email: "E-mail" };

const SETTINGS_PATH = "/accounts/notifications/settings";

/** How the signed-in user is notified of each event, and the browsers that push is on in. */
export function Notifications() {
  const { data, error, isPending, refetch } = useGet<NotificationSettings>(
    NOTIFICATION_SETTINGS,
    SETTINGS_PATH,
  );
  const queries = useQueryClient();
  const edit = useMutation({
    mutationFn: (choice: NotificationSettings["choices"][number]) =>
      call<NotificationSettings>("PATCH", SETTINGS_PATH, { body: { choices: [choice] } }),
    // shown at once, so that a second click begins from the first
    onMutate: (choice) =>
      queries.setQueryData<NotificationSettings>(
        NOTIFICATION_SETTINGS,
        (known) =>
          known && {
            ...known,
            choices: known.choices.map((each) => (each.event === choice.event ? choice : each)),
          },
      ),
    onError: () => refetch(),
    onSuccess: (settings) => queries.setQueryData(NOTIFICATION_SETTINGS, settings),
  });
  return (
    <Section
      title="Notifications"
      about="Of the sessions that you started, and of the change requests that you opened or that came of your sessions, and of domains in accounts that you manage. What you do yourself is not reported."
    >
      <div id="notifications" className="flex flex-col gap-6">
        <Failure error={error ?? edit.error} retry={() => void refetch()} />
        {isPending && <Loading what="Loading the notifications" />}
        {data && (
          <>
            <Choices settings={data} onChange={edit.mutate} />
            {data.email_problem !== null && <p className="text-muted text-sm">{data.email_problem}</p>}
            <Browsers settings={data} />
          </>
        )}
      </div>
    </Section>
  );
}

function Choices({
  settings,
  onChange,
}: {
  settings: NotificationSettings;
  onChange: (choice: NotificationSettings["choices"][number]) => void;
}) {
  const ways = NOTIFICATION_WAYS.filter((way) => way !== "email" || settings.email_problem === null);
  return (
    <table className="w-full text-left">
      <thead>
        <tr>
          <th scope="col">Event</th>
          {ways.map((way) => (
            <th key={way} scope="col" className="px-2 text-center">
              {WAYS[way]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {settings.choices.map((choice) => (
          <tr key={choice.event} className="border-line border-t">
            <th scope="row" className="py-2 pr-4 font-normal">
              {EVENTS[choice.event]}
            </th>
            {ways.map((way) => (
              <td key={way} className="px-2 text-center">
                <input
                  type="checkbox"
                  aria-label={`${EVENTS[choice.event]}: ${WAYS[way]}`}
                  className="size-4 accent-accent"
                  checked={choice.ways.includes(way)}
                  onChange={({ target }) =>
                    onChange({ ...choice, ways: changed(choice.ways, way, target.checked) })
                  }
                />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const changed = (ways: readonly NotificationWay[], way: NotificationWay, isOn: boolean) => [
  ...ways.filter((each) => each !== way),
  ...(isOn ? [way] : []),
];
