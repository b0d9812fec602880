/*
 * The script of the page after lesson selection: it submits the selection to the platform. Without it, teachers press
 * the page's button.
 */

(document.getElementById('lectern-sent') as HTMLFormElement | null)?.submit();
