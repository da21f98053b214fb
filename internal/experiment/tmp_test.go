package experiment
import ("testing";"fmt";"time";"os";"strconv";"sync")
func runS(t *testing.T, s Setting, seeds int, label string){
 ans:=s.Answers
 t0:=time.Now()
 curves:=make([][][]Point,seeds)
 var wg sync.WaitGroup; ch:=make(chan int)
 for range 2{wg.Go(func(){for i:=range ch{c,err:=runSeed(t.Context(),s,Config{Methods:[]string{"idrl","uniform"},Answers:ans},uint64(1000+i)); if err!=nil{t.Error(err)}; curves[i]=c}})}
 for i:=range seeds{ch<-i}; close(ch); wg.Wait()
 for m,name:=range []string{"idrl","uniform"}{
  fmt.Printf("%s %s:",label,name)
  for _,k:=range []int{0,1,2,3,5,10,20,50,80,90,100}{ if k>ans{break}
   var s,e float64; for i:=range curves{p:=curves[i][m][k]; s+=p.Regret;e+=p.Expected}
   N:=float64(seeds); fmt.Printf(" %d:%.3f(%.3f)",k,s/N,e/N)
  }
  var auc,cs float64; for i:=range curves{cs+=curves[i][m][ans].Cosine/float64(seeds);for _,p:=range curves[i][m][1:]{auc+=p.Regret/float64(ans)/float64(seeds)}}; fmt.Printf(" auc %.4f cos %.3f  %v\n",auc,cs,time.Since(t0).Round(time.Second))
 }
}

func TestTmp(t *testing.T){
 n,_:=strconv.Atoi(os.Getenv("SEEDS"))
 s:=driverSetting(); s.spec.PriorVar=0.0625; s.spec.NoiseStd=4.7; s.spec.TieBand=0.02; s.restarts=4; runS(t,s,n,"matched")
 runS(t,gridworldSetting(1),100,"grid")
 runS(t,gridworldSetting(2),100,"grid2")
}
