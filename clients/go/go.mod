module hadal.dev/client

go 1.22
