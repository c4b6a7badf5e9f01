"""Labs in a page of the site: the check without processes, sockets and threads of the host, and progress that moves."""
