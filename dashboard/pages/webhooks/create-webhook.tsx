import type { WebhookWithSecret } from "../../../src/contract/webhook.ts";
import { WEBHOOK_EVENTS, WEBHOOK_URL_MAX } from "../../../src/contract/webhook-event.ts";
import { call } from "../../api/call.ts";
import { FormDialog } from "../../parts/dialog.tsx";
import { Options, Select, TextField } from "../../parts/field.tsx";
import { useForm } from "../../parts/form.tsx";

const FORMATS = [
  ["json", "JSON: the event"],
  ["text", "Text: a message for Slack or Mattermost"],
] as const;

interface Props {
  /** API path of the project's webhooks, below `/v1`. */
  at: string;
  onMade: (webhook: WebhookWithSecret) => void;
  onClose: () => void;
}

/** Dialog for a new webhook. */
export function CreateWebhook({ at, onMade, onClose }: Props) {
  const form = useForm(
    { url: "", events: "*", format: "json" },
    {
      send: ({ url, events, format }) => {
        const names = events.split(",").map((name) => name.trim());
        return call<WebhookWithSecret>("POST", at, { body: { url: url.trim(), events: names, format } });
      },
      onSuccess: onMade,
    },
  );
  return (
    <FormDialog
      title="New webhook"
      verb="Add the webhook"
      busy={form.isPending}
      error={form.rest}
      onSubmit={form.submit}
      onClose={onClose}
    >
      <TextField
        label="URL"
        placeholder="https://example.com/svc"
        required
        maxLength={WEBHOOK_URL_MAX}
        spellCheck={false}
        {...form.field("url")}
      />
      <TextField
        label="Events"
        hint={`Separated by commas: ${WEBHOOK_EVENTS.join(", ")}. cr.*, session.*, deployment.* and * stand for several.`}
        required
        spellCheck={false}
        {...form.field("events")}
      />
      <Select label="Format" {...form.field("format")}>
        <Options of={FORMATS} />
      </Select>
    </FormDialog>
  );
}
