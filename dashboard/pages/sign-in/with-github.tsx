import { useSignedIn } from "../../api/signed-in.ts";

interface Props {
  /** The verb of the label: "Sign in", "Join". */
  verb: string;
  /** `next`: the page to open afterwards; `invitation`: the token of a link. */
  query: { next: string } | { invitation: string };
}

/** A link to sign in with GitHub, if the server is configured for it. */
export function WithGithub({ verb, query }: Props) {
  const { data: rules } = useSignedIn();
  if (!rules?.github) return null;
  return (
    <a
      href={`/v1/auth/github?${new URLSearchParams({ ...query })}`}
      className="inline-flex min-h-9 items-center justify-center rounded-md border border-edge px-3 py-1.5 font-medium text-ink no-underline hover:bg-raised"
    >
      {verb} with GitHub
    </a>
  );
}
