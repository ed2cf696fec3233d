import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { SigningKey } from "../../../src/contract/signing-key.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Ago } from "../../parts/ago.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { FormDialog } from "../../parts/dialog.tsx";
import { TextArea, TextField } from "../../parts/field.tsx";
import { useForm } from "../../parts/form.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible, visibleText } from "../../parts/visible.tsx";

const AT = "/users/me/signing-keys";
const KEY = ["signing-keys"];

/** The SSH keys that verify the signed-in user's commits. */
export function SigningKeys() {
  const [dialog, setDialog] = useState<"add" | SigningKey | null>(null);
  const queries = useQueryClient();
  const { data, error, isPending, refetch } = useGet<SigningKey[]>(KEY, AT);
  const close = () => setDialog(null);
  const done = async () => {
    close();
    await queries.invalidateQueries({ queryKey: KEY });
  };
  return (
    <Section
      title="Signing keys"
      about="SSH public keys. A commit that is signed with one of them, and has your e-mail address as its committer's, is marked as verified."
      actions={<Button onClick={() => setDialog("add")}>New signing key</Button>}
    >
      <Failure error={error} retry={() => void refetch()} />
      {isPending && <Loading what="Loading your signing keys" />}
      {data?.length === 0 && <p className="text-muted">No signing keys yet.</p>}
      <ul aria-label="Signing keys" className="divide-y divide-line">
        {data?.map((key) => (
          <li key={key.id} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-3">
            <div className="min-w-0">
              <p className="font-medium">
                <Visible>{key.title}</Visible>
              </p>
              <p className="wrap-anywhere text-muted text-sm">
                <code>{key.fingerprint}</code> · added <Ago at={key.created_at} />
              </p>
            </div>
            <Button
              look="danger"
              onClick={() => setDialog(key)}
              aria-label={`Remove ${visibleText(key.title)}`}
            >
              Remove
            </Button>
          </li>
        ))}
      </ul>
      {dialog === "add" && <Add onDone={done} onClose={close} />}
      {dialog !== null && dialog !== "add" && <Remove signingKey={dialog} onDone={done} onClose={close} />}
    </Section>
  );
}

interface DialogProps {
  onDone: () => Promise<void>;
  onClose: () => void;
}

function Add({ onDone, onClose }: DialogProps) {
  const form = useForm(
    { title: "", key: "" },
    {
      send: ({ title, key }) =>
        call("POST", AT, { body: { key, ...(title.trim() !== "" && { title: title.trim() }) } }),
      onSuccess: onDone,
    },
  );
  return (
    <FormDialog
      title="New signing key"
      verb="Add the key"
      busy={form.isPending}
      error={form.rest}
      onSubmit={form.submit}
      onClose={onClose}
    >
      <TextField label="Title" hint="Optional. Default: the comment of the key." {...form.field("title")} />
      <TextArea
        label="Public key"
        hint="The line of a .pub file: Ed25519, ECDSA or RSA."
        {...form.field("key")}
      />
    </FormDialog>
  );
}

function Remove({ signingKey, onDone, onClose }: DialogProps & { signingKey: SigningKey }) {
  const remove = useMutation({
    mutationFn: () => call("DELETE", AT + path`/${signingKey.id}`),
    onSuccess: onDone,
  });
  return (
    <Confirm
      title={`Remove ${signingKey.title}?`}
      verb="Remove the key"
      action={remove}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p>Commits that are signed with it are no longer marked as verified.</p>
    </Confirm>
  );
}
