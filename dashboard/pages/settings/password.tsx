import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { call } from "../../api/call.ts";
import { byField } from "../../api/failure.ts";
import { useSignedIn } from "../../api/signed-in.ts";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Saved } from "../../parts/saved.tsx";
import { Section } from "../../parts/section.tsx";
import { PasswordField } from "../sign-in/password-field.tsx";

/** Changes the password; requires the current one. */
export function Password() {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const { data } = useSignedIn();
  const change = useMutation({
    mutationFn: () =>
      call("POST", "/auth/password", { body: { current_password: current, new_password: next } }),
    onSuccess: () => {
      setCurrent("");
      setNext("");
    },
  });
  const errors = byField(change.error, ["current_password", "new_password"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <Section title="Password" about="A new password signs you out in all other browsers.">
      <form onSubmit={submit} className="flex flex-col gap-4">
        {/* password managers store the password under this name */}
        <input type="hidden" autoComplete="username" value={data?.user?.email ?? ""} />
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          required
          value={current}
          onChange={(event) => setCurrent(event.target.value)}
          error={errors.of("current_password")}
        />
        <PasswordField
          label="New password"
          value={next}
          onChange={(event) => setNext(event.target.value)}
          error={errors.of("new_password")}
        />
        <Failure error={errors.rest} />
        <div className="flex items-center gap-3">
          <Button type="submit" busy={change.isPending}>
            Change the password
          </Button>
          <Saved when={change.isSuccess && next === ""}>Changed</Saved>
        </div>
      </form>
    </Section>
  );
}
