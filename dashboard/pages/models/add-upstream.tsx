import type { SetModelUpstreamBody } from "../../../src/contract/model-upstream.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { FormDialog } from "../../parts/dialog.tsx";
import { Options, Select, TextField } from "../../parts/field.tsx";
import { useForm } from "../../parts/form.tsx";

const FORMATS = [
  ["openai", "OpenAI"],
  ["anthropic", "Anthropic"],
] as const;

interface Props {
  /** API path of the upstreams, below `/v1`. */
  at: string;
  onDone: () => Promise<void>;
  onClose: () => void;
}

/** Dialog for a model upstream, with a key. An upstream with the same name is replaced. */
export function AddUpstream({ at, onDone, onClose }: Props) {
  const form = useForm(
    { id: "", format: "openai", url: "", key: "", models: "" },
    {
      send({ id, format, url, key, models }) {
        const names = models.split(",").flatMap((name) => name.trim() || []);
        const body: SetModelUpstreamBody = {
          format: format === "anthropic" ? "anthropic" : "openai",
          url: url.trim(),
          key: key.trim(),
          ...(names.length > 0 && { models: names.map((name) => ({ id: name })) }),
        };
        return call("PUT", at + path`/${id.trim()}`, { body });
      },
      onSuccess: onDone,
    },
  );
  return (
    <FormDialog
      title="Add a model upstream"
      verb="Add the upstream"
      busy={form.isPending}
      error={form.rest}
      onSubmit={form.submit}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="An upstream with the same name is replaced."
        placeholder="openai"
        required
        spellCheck={false}
        autoCapitalize="none"
        {...form.field("id")}
      />
      <Select label="Format" {...form.field("format")}>
        <Options of={FORMATS} />
      </Select>
      <TextField
        label="URL"
        hint="The base URL that the upstream's own clients use."
        placeholder="https://api.openai.com/v1"
        required
        spellCheck={false}
        {...form.field("url")}
      />
      <TextField
        label="Key"
        type="password"
        hint="It stays on the server, and is never shown again."
        required
        {...form.field("key")}
      />
      <TextField
        label="Models"
        hint="Separated by commas; empty: any. Set prices with svc models add."
        spellCheck={false}
        {...form.field("models")}
      />
    </FormDialog>
  );
}
