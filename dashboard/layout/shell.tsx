import type { ReactNode } from "react";
import { Link } from "wouter";
import { useMe } from "../api/accounts.ts";
import { useSignOut } from "../api/sign-out.ts";
import { useSignedIn } from "../api/signed-in.ts";
import { Button } from "../parts/button.tsx";
import { ThemeChoice } from "../parts/theme-choice.tsx";
import { Visible } from "../parts/visible.tsx";
import { Bell } from "./bell.tsx";

/** A readable width. Pages with an element that has `data-wide` use the full width of the window. */
const WIDTH = "mx-auto max-w-7xl in-[body:has([data-wide])]:max-w-none px-4";

/** The layout of all pages for signed-in users: link to the start page, user menu. */
export function Shell({ children }: { children: ReactNode }) {
  return (
    <>
      <a
        href="#main"
        className="absolute top-2 left-2 z-50 -translate-y-20 rounded-md bg-accent px-3 py-2 text-on-accent focus:translate-y-0"
      >
        Skip to the content
      </a>
      <header className="border-line border-b bg-surface">
        <div className={`${WIDTH} flex items-center justify-between gap-4 py-2`}>
          <Link href="/" className="flex items-center gap-2 font-semibold text-lg text-ink no-underline">
            <img src="/assets/icon.svg" alt="" className="size-7" />
            svc
          </Link>
          <div className="flex items-center gap-1">
            <Bell />
            <UserMenu />
          </div>
        </div>
      </header>
      <main id="main" className={`${WIDTH} pb-16`}>
        {children}
      </main>
    </>
  );
}

function UserMenu() {
  const { data } = useSignedIn();
  const { data: me } = useMe();
  const signOut = useSignOut("/login");
  return (
    <details name="menu" className="relative">
      <summary className="flex min-h-9 list-none items-center gap-1 rounded-md px-2 hover:bg-raised">
        <Visible>{data?.user?.name ?? "Account"}</Visible>
        <span aria-hidden="true">▾</span>
      </summary>
      <div className="absolute right-0 z-40 mt-1 flex w-64 flex-col gap-3 rounded-md border border-line bg-surface p-3 shadow-lg">
        <p className="text-muted text-sm">
          Signed in as <Visible>{data?.user?.email ?? ""}</Visible>
        </p>
        <Link href="/settings" className="text-accent underline">
          Settings and tokens
        </Link>
        {me?.is_operator && (
          <Link href="/server" className="text-accent underline">
            Server
          </Link>
        )}
        <ThemeChoice />
        <Button busy={signOut.isPending} onClick={() => signOut.mutate()}>
          Sign out
        </Button>
      </div>
    </details>
  );
}
