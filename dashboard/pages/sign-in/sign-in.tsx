import { type FormEvent, useState } from "react";
import { Link, Redirect, useSearch } from "wouter";
import { useSignedIn } from "../../api/signed-in.ts";
import { Entrance } from "../../layout/entrance.tsx";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { nextPage } from "./next.ts";
import { useSignInForm } from "./sign-in-form.ts";
import { WithGithub } from "./with-github.tsx";

export function SignIn() {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const search = useSearch();
  const { data: rules } = useSignedIn();
  const signIn = useSignInForm<{ email: string; password: string }>("/auth/sign-in", nextPage(search));
  if (rules?.signed_in) return <Redirect to={nextPage(search)} replace />;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate({ email, password });
  };
  return (
    <Entrance title="Sign in to svc">
      {rules?.first_user && (
        <Notice kind="info">
          No user has a password yet. Open the link that the server printed when it started, or create one
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
      <WithGithub verb="Sign in" query={{ next: nextPage(search) }} />
      {rules?.sign_up === "open" && (
        <p className="text-center">
          New here?{" "}
          <Link href={`/sign-up${search && `?${search}`}`} className="text-accent underline">
            Create an account
          </Link>
        </p>
      )}
    </Entrance>
  );
}
