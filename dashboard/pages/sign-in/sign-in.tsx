import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { call } from "../../api/call.ts";
import { SIGNED_IN, useSignedIn } from "../../api/signed-in.ts";
import { Entrance } from "../../layout/entrance.tsx";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { nextPage } from "./next.ts";

export function SignIn() {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [, go] = useLocation();
  const search = useSearch();
  const queries = useQueryClient();
  const { data: rules } = useSignedIn();
  const signIn = useMutation({
    mutationFn: () => call("POST", "/auth/sign-in", { body: { email, password } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: SIGNED_IN });
      go(nextPage(search), { replace: true });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate();
  };
  return (
    <Entrance title="Sign in to svc">
      {rules?.first_user && (
        <Notice kind="info">
          Nobody has a password here yet. Open the link that the server printed when it started, or make one
          with: <code className="font-mono">svc-api admin link --email &lt;your e-mail&gt;</code>
        </Notice>
      )}
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label="E-mail"
          type="email"
          name="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <TextField
          label="Password"
          type="password"
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <Failure error={signIn.error} />
        <Button type="submit" look="primary" busy={signIn.isPending}>
          Sign in
        </Button>
      </form>
      {rules?.github && (
        <a href="/v1/auth/github" className="text-center text-accent underline">
          Sign in with GitHub
        </a>
      )}
    </Entrance>
  );
}
