import { memo } from "react";
import { usePartNotice } from "./LoadingPart";
import { useNotice } from "./notice";

/** The notice at the lower edge of the page. Its place is always there, so that it is read out. */
export const NoticeBar = memo(function NoticeBar() {
  const notice = useNotice();
  usePartNotice();
  return (
    <output className="notice" data-shown={notice !== null} data-problem={notice?.isProblem}>
      {notice?.text}
    </output>
  );
});
