# Shuts postgres down, and removes what is temporary, when the program that started postgres
# has ended. $1 is pg_ctl, $2 the cluster, $3 the directory to remove.
#
# Descriptor 0 ends with that program, 3 with the last process of postgres or initdb. All of
# these processes hold the lock on the data: no pg_ctl of theirs can meet the next server. The
# loop begins with a pause, in which it ends when postgres has ended before.
cat
while sleep 0.1; do
	"$1" stop -D "$2" -m fast -t 5 || "$1" stop -D "$2" -m immediate -t 10
done >/dev/null 2>&1 &
cat <&3
kill $!
rm -rf "$3"
