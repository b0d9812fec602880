// Placeholder replaced by the widget build.
