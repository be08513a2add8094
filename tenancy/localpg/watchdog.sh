# Shuts postgres down, and removes what is temporary, when the program that started postgres
# has ended. $1 is pg_ctl, $2 the cluster, $3 the directory to remove.
#
# Descriptor 0 ends with that program, 3 with the last process of postgres or initdb.
cat
while true; do
	"$1" stop -D "$2" -m fast -t 5 || "$1" stop -D "$2" -m immediate -t 10
	sleep 0.1
done >/dev/null 2>&1 &
cat <&3
kill $!
rm -rf "$3"
