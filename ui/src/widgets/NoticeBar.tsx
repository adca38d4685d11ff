import { memo } from "react";
import { useNotice } from "./notice";

/** The notice at the lower edge of the page. Its place is always there, so that it is read out. */
export const NoticeBar = memo(function NoticeBar() {
  const notice = useNotice();
  return (
    <output className="notice" data-shown={notice !== null} data-problem={notice?.isProblem}>
      {notice?.text}
    </output>
  );
});
