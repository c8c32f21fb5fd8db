import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";

/** A dialog over the page. Escape closes it, and the focus returns to its opener. */
export function Dialog({
  title,
  isOpen,
  close,
  children,
}: {
  readonly title: string;
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => (open ? null : close())}>
      <Base.Portal>
        <Base.Backdrop className="dialog-back" />
        <Base.Popup className="dialog">
          <Base.Title render={<h2 />}>{title}</Base.Title>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
