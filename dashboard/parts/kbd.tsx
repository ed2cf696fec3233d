/** The key of a button, where there is room for it. */
export function Kbd({ children }: { children: string }) {
  return (
    <kbd className="rounded-sm border border-line bg-raised px-1 font-mono text-muted text-xs max-lg:hidden">
      {children}
    </kbd>
  );
}
