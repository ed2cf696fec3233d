import { call } from "../../api/call.ts";
import { useSignedIn } from "../../api/signed-in.ts";
import { TextField } from "../../parts/field.tsx";
import { Form, Save, useForm } from "../../parts/form.tsx";
import { Section } from "../../parts/section.tsx";
import { PasswordField } from "../sign-in/password-field.tsx";

const EMPTY = { current_password: "", new_password: "" };

/** Changes the password; requires the current one. */
export function Password() {
  const { data } = useSignedIn();
  const form = useForm(EMPTY, {
    send: (body) => call("POST", "/auth/password", { body }),
    onSuccess: (_, set) => set(EMPTY),
  });
  return (
    <Section title="Password" about="A new password signs you out in all other browsers.">
      <Form onSubmit={form.submit}>
        {/* password managers store the password under this name */}
        <input type="hidden" autoComplete="username" value={data?.user?.email ?? ""} />
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          required
          {...form.field("current_password")}
        />
        <PasswordField label="New password" {...form.field("new_password")} />
        <Save
          form={form}
          verb="Change the password"
          isClean={form.values.new_password === ""}
          saved="Changed"
        />
      </Form>
    </Section>
  );
}
